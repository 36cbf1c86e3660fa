import type { Message } from "@keelson/protocol";

const ENTITIES: { readonly [entity: string]: string } = {
  "&lt;": "<",
  "&gt;": ">",
  "&#60;": "<",
  "&#62;": ">",
  "&quot;": '"',
  "&amp;": "&",
  "\\u003c": "<",
  "\\u003e": ">",
};

/** True if the conversation holds one of these texts, or media whose text cannot be read. The model's own words do not count. */
export function isInConversation(messages: readonly Message[], texts: readonly string[]): boolean {
  const sought = texts.map(normalised);
  return messages.some(({ role, content }) =>
    content.some((part) => {
      if (role === "assistant" && part.type !== "server-tool") return false;
      const held = strings(part);
      return held === undefined || held.some((text) => sought.some((one) => normalised(text).includes(one)));
    }),
  );
}

/** Pages write markup with entities, and with other spaces. */
function normalised(text: string): string {
  return text
    .replace(/&(?:lt|gt|quot|amp|#60|#62);|\\u003[ce]/gi, (entity) => ENTITIES[entity.toLowerCase()] ?? entity)
    .replace(/\\"/g, '"')
    .replace(/[\s\u200b-\u200d\ufeff]+/g, "")
    .toLowerCase();
}

/** All strings of a value; `undefined` if there is an image or a file in it. */
function strings(value: unknown): readonly string[] | undefined {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const { type } = value as { readonly type?: unknown };
  if (type === "image" || type === "file") return undefined;
  const found: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (name === "providerData") continue;
    const inner = strings(member);
    if (inner === undefined) return undefined;
    found.push(...inner);
  }
  return found;
}
