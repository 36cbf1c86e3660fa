export { canonicalJson } from "./canonical-json.ts";
export { digestOf, shortHash } from "./digest.ts";
export { applyJsonPatch, diffJson, loadJsonPatch, type JsonPatch, type JsonPatcher, type JsonPatchOperation } from "./json-patch.ts";
export { exactInput } from "./exact-input.ts";
export { findInexactIntegers, isInexactInteger, mayHoldInexactInteger } from "./inexact-integer.ts";
export { jsonInText, nextOpener } from "./json-in-text.ts";
export { isJson } from "./is-json.ts";
export { asJson, jsonValue } from "./json-value.ts";
export { MAX_JSON_DEPTH } from "./max-json-depth.ts";
export { nestsDeeper } from "./nests-deeper.ts";
export { type ParsedArguments, parseArguments, withoutFence } from "./parse-arguments.ts";
export {
  type ArrivedInteger,
  arrivedIntegers,
  jsonText,
  markCopy,
  markInteger,
  markMember,
  parseJson,
  quoteIntegers,
  restoreIntegers,
} from "./parse-json.ts";
export { parseJsonc } from "./parse-jsonc.ts";
export { plainJson } from "./plain-json.ts";
export { PartialJson } from "./partial-json.ts";
export { putMember } from "./put-member.ts";
export { isSameJsonText, type SentValue, sentValue } from "./sent-value.ts";
export { type TruncatedText, truncateText } from "./truncate-text.ts";
