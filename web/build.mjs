// Builds the page of `unseen serve` and copies plotly's partial bundle for the static report.
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
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
const inside = ["twgl.js", "kdbush", "d3-zoom", "d3-selection", "d3-transition", "d3-drag", "d3-dispatch", "d3-ease",
  "d3-interpolate", "d3-color", "d3-timer", "@fontsource-variable/inter"];
const licences = inside.map(async (name) => {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const [file] = (await readdir(folder)).filter((each) => /^licen[cs]e/i.test(each));
  return `${name}

${await readFile(new URL(file, folder), "utf8")}
`;
});
await writeFile(new URL("licences.txt", page), (await Promise.all(licences)).join(`${"-".repeat(72)}
`));
await copyFile(
  new URL("node_modules/plotly.js-cartesian-dist-min/plotly-cartesian.min.js", import.meta.url),
  new URL("plotly.min.js", report),
);
