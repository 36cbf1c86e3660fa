export { canonicalJson } from "./canonical-json.ts";
export { digestOf, shortHash } from "./digest.ts";
export {
  isJsonPatchLoaded,
  loadedJsonPatch,
  loadJsonPatch,
  type JsonPatch,
  type JsonPatcher,
  type JsonPatchOperation,
} from "./json-patch.ts";
export { jsonInText, nextOpener } from "./json-in-text.ts";
export { nestsDeeper } from "./nests-deeper.ts";
export { type ParsedArguments, parseArguments, withoutFence } from "./parse-arguments.ts";
export { plainJson } from "./plain-json.ts";
export { PartialJson } from "./partial-json.ts";
export { putMember } from "./put-member.ts";
export { type TruncatedText, truncateText } from "./truncate-text.ts";
