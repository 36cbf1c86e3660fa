export { canonicalJson } from "./canonical-json.ts";
export { digestOf, shortHash } from "./digest.ts";
