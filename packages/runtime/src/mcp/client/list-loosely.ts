import type { Client, RequestOptions } from "@modelcontextprotocol/client";

const MAX_PAGES = 64;

/** Lists the tools of a server without a check of their form. */
export async function listLoosely(client: Client, sending: RequestOptions): Promise<readonly unknown[]> {
  const anything = { "~standard": { version: 1 as const, vendor: "keelson", validate: (value: unknown) => ({ value }) } };
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const listed = (await client.request({ method: "tools/list", params }, anything, sending)) as {
      readonly tools?: unknown;
      readonly nextCursor?: unknown;
    };
    if (Array.isArray(listed.tools)) tools.push(...listed.tools);
    if (typeof listed.nextCursor !== "string" || listed.nextCursor === cursor) break;
    cursor = listed.nextCursor;
  }
  return tools;
}
