const PLATFORM_PREFIX = /^(?:(?:us|eu|apac|jp|au|ca|global)(?:-gov)?\.)?(?:anthropic|amazon|meta|mistral|deepseek|openai|google|qwen)\./;
/** Bedrock's `-v1:0`, Vertex's `@20250929`, a date, `-latest`. */
const VERSION_SUFFIX = /(?:-v\d+(?::\d+)?|@[\w-]+|-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest))$/;

/**
 * What a model is called without the names that its hosts give it: no provider's prefix, no date, no alias for the newest. What
 * a vendor signed for one of these names is good for the others.
 */
export function modelFamily(model: string): string {
  let family = model.slice(model.lastIndexOf("/") + 1).replace(PLATFORM_PREFIX, "");
  for (let shorter = family.replace(VERSION_SUFFIX, ""); shorter !== family && shorter !== ""; shorter = family.replace(VERSION_SUFFIX, ""))
    family = shorter;
  return family;
}
