export { canonicalJson } from "./canonical-json.ts";
export { digestOf, shortHash } from "./digest.ts";
export { nestsDeeper } from "./nests-deeper.ts";
export { type ParsedArguments, parseArguments } from "./parse-arguments.ts";
export { type TruncatedText, truncateText } from "./truncate-text.ts";
