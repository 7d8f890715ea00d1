// Draws all nodes in one call, then the edges and rings of what is in focus.
import * as twgl from "twgl.js";
import { LINES, POINTS, RINGS } from "./shaders";

export interface Arrays {
  nodes: number;
  places: Float32Array; // x0, y0, x1, y1 …
  classes: Uint16Array; // 65535: none of these
  confidence: Uint8Array;
  flags: Uint8Array;
}

export interface View { scale: [number, number]; shift: [number, number]; size: number; share: number } // share of the nodes to draw
export interface Overlay {
  lines: { from: [number, number]; to: [number, number]; colour: number[] }[];
  rings: { at: [number, number]; weight: number; colour: number[] }[];
  others: number;
}

export const EMPTY: Overlay = { lines: [], rings: [], others: 0 };

/** Take the blocks of the answer of `/map/arrays` apart, without copying them. */
export function arraysOf(buffer: ArrayBuffer): Arrays {
  const nodes = buffer.byteLength / 12;
  return {
    nodes,
    places: new Float32Array(buffer, 0, 2 * nodes),
    classes: new Uint16Array(buffer, 8 * nodes, nodes),
    confidence: new Uint8Array(buffer, 10 * nodes, nodes),
    flags: new Uint8Array(buffer, 11 * nodes, nodes),
  };
}

/** Return the nodes in a random order that is always the same: no class lies on top of all others,
 * and the first so many are a fair sample, which is what is drawn while a slow machine moves the map. */
export function shuffled(arrays: Arrays): Arrays {
  const { nodes } = arrays;
  const order = Uint32Array.from({ length: nodes }, (_, i) => i);
  let seed = 1;
  for (let i = nodes - 1; i > 0; i -= 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const j = Math.floor((seed / 4_294_967_296) * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  const made: Arrays = {
    nodes, places: new Float32Array(2 * nodes), classes: new Uint16Array(nodes), confidence: new Uint8Array(nodes), flags: new Uint8Array(nodes),
  };
  order.forEach((from, to) => {
    made.places[2 * to] = arrays.places[2 * from]!;
    made.places[2 * to + 1] = arrays.places[2 * from + 1]!;
    made.classes[to] = arrays.classes[from]!;
    made.confidence[to] = arrays.confidence[from]!;
    made.flags[to] = arrays.flags[from]!;
  });
  return made;
}

export const rgb = (hex: string): number[] =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

export class Painter {
  private readonly gl: WebGL2RenderingContext;
  private readonly points: twgl.ProgramInfo;
  private readonly rings: twgl.ProgramInfo;
  private readonly lines: twgl.ProgramInfo;
  private looks: WebGLTexture | null = null;
  private cloud: twgl.VertexArrayInfo | null = null;

  /** Throws where the browser has no WebGL 2. */
  constructor(readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    const made = (p: { vertex: string; fragment: string }): twgl.ProgramInfo =>
      twgl.createProgramInfo(gl, [p.vertex, p.fragment]);
    this.points = made(POINTS);
    this.rings = made(RINGS);
    this.lines = made(LINES);
  }

  setArrays(arrays: Arrays): void {
    const mixed = shuffled(arrays);
    const buffers = twgl.createBufferInfoFromArrays(this.gl, {
      place: { numComponents: 2, data: mixed.places },
      kind: { numComponents: 1, data: mixed.classes, normalize: false },
      confidence: { numComponents: 1, data: mixed.confidence, normalize: true },
      flags: { numComponents: 1, data: mixed.flags, normalize: false },
    });
    this.cloud = twgl.createVertexArrayInfo(this.gl, this.points, buffers);
  }

  /** Column 0 is none of these, column c + 1 class c: colour, shape, shown, stepping back. */
  setLooks(columns: { colour: string; shape: number; shown: boolean; back: boolean }[]): void {
    const { gl } = this;
    const width = columns.length;
    const src = new Uint8Array(8 * width);
    columns.forEach((column, i) => {
      src.set([...rgb(column.colour).map((v) => Math.round(255 * v)), column.shape], 4 * i);
      src.set([column.shown ? 255 : 0, column.back ? 255 : 0, 0, 255], 4 * (width + i));
    });
    const options = { width, height: 2, src, min: gl.NEAREST, mag: gl.NEAREST, auto: false };
    if (this.looks) gl.deleteTexture(this.looks);
    this.looks = twgl.createTexture(gl, options);
  }

  draw(view: View, overlay: Overlay, ink: string, ground: string, ratio: number): void {
    const { gl } = this;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const common = { scale: view.scale, shift: view.shift };
    if (this.cloud && this.looks) {
      const uniforms = { ...common, size: view.size * ratio, others: overlay.others, looks: this.looks };
      this.pass(this.points, this.cloud, uniforms, gl.POINTS, Math.ceil(this.cloud.numElements * view.share));
    }
    if (overlay.lines.length) {
      const place = overlay.lines.flatMap((line) => [...line.from, ...line.to]);
      const tint = overlay.lines.flatMap((line) => [...line.colour, ...line.colour]);
      this.small(this.lines, { place: [2, place], tint: [3, tint] }, common, gl.LINES);
    }
    if (overlay.rings.length) {
      const place = overlay.rings.flatMap((ring) => ring.at);
      const weight = overlay.rings.map((ring) => ring.weight);
      const tint = overlay.rings.flatMap((ring) => ring.colour);
      const size = Math.max(12, Math.min(20, view.size + 6)) * ratio;
      const uniforms = { ...common, size, ratio, ink: rgb(ink), ground: rgb(ground) };
      this.small(this.rings, { place: [2, place], tint: [3, tint], weight: [1, weight] }, uniforms, gl.POINTS);
    }
  }

  private pass(program: twgl.ProgramInfo, buffers: twgl.VertexArrayInfo, uniforms: object, mode: number, count?: number): void {
    this.gl.useProgram(program.program);
    twgl.setBuffersAndAttributes(this.gl, program, buffers);
    twgl.setUniforms(program, uniforms as Record<string, unknown>);
    twgl.drawBufferInfo(this.gl, buffers, mode, count);
  }

  private small(program: twgl.ProgramInfo, data: Record<string, [number, number[]]>, uniforms: object, mode: number): void {
    const arrays: twgl.Arrays = {};
    for (const [name, [numComponents, values]] of Object.entries(data)) {
      arrays[name] = { numComponents, data: new Float32Array(values) };
    }
    const buffers = twgl.createBufferInfoFromArrays(this.gl, arrays);
    const whole = twgl.createVertexArrayInfo(this.gl, program, buffers);
    this.pass(program, whole, uniforms, mode);
    this.gl.bindVertexArray(null);
    this.gl.deleteVertexArray(whole.vertexArrayObject ?? null);
    for (const each of Object.values(buffers.attribs ?? {})) this.gl.deleteBuffer(each.buffer);
  }
}
