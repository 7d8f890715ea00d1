// Builds the page of `unseen serve` and copies plotly's partial bundle for the static report.
import { copyFile, mkdir, rm } from "node:fs/promises";
import { build } from "esbuild";

const room = new URL("../src/unseen/", import.meta.url);
const page = new URL("serve/static/", room);
const report = new URL("report/static/", room);

await rm(page, { recursive: true, force: true });
await rm(report, { recursive: true, force: true });
await mkdir(page, { recursive: true });
await mkdir(report, { recursive: true });

await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { app: "src/app.ts", style: "src/styles/all.css" },
  outdir: page.pathname,
  bundle: true,
  splitting: true, // the map, with all of WebGL, arrives after the first paint
  format: "esm",
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
  minify: true,
  legalComments: "eof",
  chunkNames: "[name]-[hash]",
  loader: { ".woff2": "file" },
  assetNames: "[name]-[hash]",
  logLevel: "warning",
});
for (const name of ["index.html", "icon.svg"]) {
  await copyFile(new URL(`src/${name}`, import.meta.url), new URL(name, page));
}
await copyFile(
  new URL("node_modules/@fontsource-variable/inter/LICENSE", import.meta.url),
  new URL("inter-license.txt", page),
);
await copyFile(
  new URL("node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js", import.meta.url),
  new URL("plotly.min.js", report),
);
