// The programs of the map. A class has one column of the texture `looks`:
// row 0 is its colour and shape, row 1 whether it is shown and whether it steps back.

const VIEW = `#version 300 es
precision highp float;
uniform vec2 scale;   // world to clip space
uniform vec2 shift;
vec2 clip(vec2 place) { return place * scale + shift; }
`;

export const POINTS = {
  vertex: `${VIEW}
uniform sampler2D looks;
uniform float size;     // pixels of the device
uniform float others;   // 1: a node is in focus, all others step back
in vec2 place;
in float kind;
in float confidence;
in float flags;
out vec4 colour;
flat out int shape;
flat out int hollow;
flat out float extent;
void main() {
  int column = kind > 65534.0 ? 0 : int(kind) + 1;
  vec4 look = texelFetch(looks, ivec2(column, 0), 0);
  vec4 now = texelFetch(looks, ivec2(column, 1), 0);
  if (now.r < 0.5) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); gl_PointSize = 0.0; return; }
  float back = max(now.g, others);
  float alpha = mix(0.38, 0.92, smoothstep(0.1, 0.9, confidence));
  colour = vec4(look.rgb, mix(alpha, alpha * 0.22, back));
  shape = int(look.a * 255.0 + 0.5);
  hollow = mod(flags, 2.0) > 0.5 ? 1 : 0;
  extent = size * (hollow == 1 ? 1.25 : 1.0);
  gl_PointSize = extent + 1.5;
  gl_Position = vec4(clip(place), 0.0, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
in vec4 colour;
flat in int shape;
flat in int hollow;
flat in float extent;
out vec4 pixel;
// Distance to the edge of a shape of radius r; negative inside.
float edge(vec2 p, float r) {
  if (shape == 1) { vec2 q = abs(p) - r * 0.86; return max(q.x, q.y); }
  if (shape == 2) return (abs(p.x) + abs(p.y) - r * 1.22) * 0.7071;
  if (shape == 3) { p.y -= r * 0.18; return max(p.y - r * 0.72, abs(p.x) * 0.87 - p.y * 0.5 - r * 0.56); }
  return length(p) - r;
}
void main() {
  vec2 p = (gl_PointCoord - 0.5) * (extent + 1.5);
  float r = extent * 0.5;
  float d = extent < 5.0 ? length(p) - r : edge(p, r);
  float cover = clamp(0.5 - d, 0.0, 1.0);
  if (hollow == 1 && extent >= 6.0) cover *= clamp(0.5 + d + max(1.6, r * 0.42), 0.25, 1.0);
  if (cover <= 0.0) discard;
  float a = colour.a * cover;
  pixel = vec4(colour.rgb * a, a);
}`,
};

export const RINGS = {
  vertex: `${VIEW}
uniform float size;
in vec2 place;
in vec3 tint;      // of the node
in float weight;   // 1: the node itself, less: one of a list
out vec3 colour;
flat out float extent;
void main() {
  colour = tint;
  extent = size * mix(1.0, 1.5, step(0.9, weight));
  gl_PointSize = extent + 2.0;
  gl_Position = vec4(clip(place), 0.0, 1.0);
}`,
  fragment: `#version 300 es
precision highp float;
uniform vec3 ink;
uniform vec3 ground;
uniform float ratio;
in vec3 colour;
flat in float extent;
out vec4 pixel;
void main() {
  float d = length((gl_PointCoord - 0.5) * (extent + 2.0)) - extent * 0.5;   // from the outer edge
  float ring = clamp(0.5 - d, 0.0, 1.0) * clamp(d + 1.6 * ratio + 0.5, 0.0, 1.0);
  float inside = clamp(0.5 - (d + 1.6 * ratio), 0.0, 1.0);
  float dot = clamp(0.5 - (d + 2.8 * ratio), 0.0, 1.0);
  vec3 fill = mix(ground, colour, dot);
  float a = max(ring, inside);
  if (a <= 0.0) discard;
  pixel = vec4(mix(ink, fill, inside) * a, a);
}`,
};

export const LINES = {
  vertex: `${VIEW}
in vec2 place;
in vec3 tint;
out vec3 colour;
void main() { colour = tint; gl_Position = vec4(clip(place), 0.0, 1.0); }`,
  fragment: `#version 300 es
precision highp float;
in vec3 colour;
out vec4 pixel;
void main() { pixel = vec4(colour * 0.75, 0.75); }`,
};
