import type { Client } from "@modelcontextprotocol/client";
import type { McpNotice, McpTransport } from "./mcp-transport.ts";
import type { SendRequest } from "./send-request.ts";
import type { Subscriptions } from "./subscriptions.ts";

type ResourceRequests = Pick<
  McpTransport,
  "listResources" | "listResourceTemplates" | "readResource" | "subscribe" | "listPrompts" | "getPrompt" | "complete" | "onNotice"
>;

/** What a connection can ask for beside tools: resources, prompts and completions. A server that has none of a kind has an empty list of it. */
export function resourceRequests(
  request: SendRequest,
  subscriptions: Subscriptions,
  onNotice: (listener: (notice: McpNotice) => void) => () => void,
): ResourceRequests {
  return {
    listResources: (given = {}) =>
      request("listing its resources", given, async ({ client }, sending) =>
        offers(client, "resources") ? asPlain((await client.listResources({}, sending)).resources) : [],
      ),
    listResourceTemplates: (given = {}) =>
      request("listing its resource templates", given, async ({ client }, sending) =>
        offers(client, "resources") ? asPlain((await client.listResourceTemplates({}, sending)).resourceTemplates) : [],
      ),
    readResource: (uri, given = {}) =>
      request(`reading ${uri}`, given, async ({ client }, sending) => asPlain((await client.readResource({ uri }, sending)).contents)),
    subscribe: (uri, given = {}) =>
      request(`subscribing to ${uri}`, given, (connected, sending) => subscriptions.begin(uri, connected, sending)),
    listPrompts: (given = {}) =>
      request("listing its prompts", given, async ({ client }, sending) =>
        offers(client, "prompts") ? asPlain((await client.listPrompts({}, sending)).prompts) : [],
      ),
    getPrompt: (name, input, given = {}) =>
      request(`getting the prompt "${name}"`, given, async ({ client }, sending) =>
        asPlain((await client.getPrompt({ name, arguments: { ...input } }, sending)).messages),
      ),
    complete: (target, argument, given = {}) =>
      request(`completing "${argument.name}"`, given, async ({ client }, sending) => {
        const ref =
          "prompt" in target
            ? ({ type: "ref/prompt", name: target.prompt } as const)
            : ({ type: "ref/resource", uri: target.uriTemplate } as const);
        const { name, value, others } = argument;
        const context = others === undefined ? {} : { context: { arguments: { ...others } } };
        return (await client.complete({ ref, argument: { name, value }, ...context }, sending)).completion.values;
      }),
    onNotice,
  };
}

function offers(client: Client, kind: "resources" | "prompts"): boolean {
  return client.getServerCapabilities()?.[kind] !== undefined;
}

/** The SDK's types say that members may be `undefined`, which what came as JSON never is. */
function asPlain<T>(list: readonly object[]): readonly T[] {
  return list as unknown as readonly T[];
}
