import { digestOf } from "../../json/index.ts";
import type { McpRequest } from "./mcp-request.ts";
import type { ServedResource, ServedResourceContent, ServedResourceTemplate } from "./mcp-server-options.ts";
import { openRequest } from "./open-request.ts";
import type { Serving } from "./serving.ts";

interface ListedResource {
  readonly uri: string;
  readonly name: string;
}

export function serveResources(serving: Serving): void {
  const { core, sdk, server, rounds, watched } = serving;
  const fixed = (): readonly ServedResource[] => core.resources().filter((resource) => "uri" in resource);
  const templates = (): readonly ServedResourceTemplate[] => core.resources().filter((resource) => "uriTemplate" in resource);

  server.setRequestHandler("resources/list", async ({ params }, context) => {
    const { request } = openRequest(serving.origin(context), context.mcpReq.signal, {});
    const found = new Map<string, ListedResource>();
    for (const resource of fixed()) found.set(resource.uri, resourceFields(resource));
    for (const template of templates())
      for (const resource of (await template.list?.(request)) ?? [])
        if (!found.has(resource.uri)) found.set(resource.uri, resourceFields(resource));
    const { items, nextCursor } = serving.page([...found.values()], ({ uri }) => uri, params?.cursor);
    return { resources: items, ...(nextCursor !== undefined && { nextCursor }) };
  });

  server.setRequestHandler("resources/templates/list", ({ params }) => {
    const { items, nextCursor } = serving.page(templates(), ({ uriTemplate }) => uriTemplate, params?.cursor);
    const resourceTemplates = items.map(({ uriTemplate, name, title, description, mimeType }) => ({
      uriTemplate,
      name,
      ...defined({ title, description, mimeType }),
    }));
    return { resourceTemplates, ...(nextCursor !== undefined && { nextCursor }) };
  });

  server.setRequestHandler(
    "resources/read",
    async ({ params: { uri } }, context) =>
      rounds.take(serving.origin(context), {
        subject: digestOf(["resources/read", uri]),
        mayRepeat: true,
        async do({ open }) {
          const read = await readResource(uri, open.request);
          if (read === undefined) throw serving.invalid(`There is no resource ${uri}`, { uri });
          return { contents: read };
        },
        lost: () => ({ contents: [] }),
      }) as never,
  );

  async function readResource(uri: string, request: McpRequest): Promise<readonly object[] | undefined> {
    const resource = fixed().find((one) => one.uri === uri);
    if (resource !== undefined) return contentsOf(await resource.read(request), uri, resource.mimeType);
    for (const template of templates()) {
      const match = new sdk.UriTemplate(template.uriTemplate).match(uri);
      if (match === null) continue;
      const variables = Object.fromEntries(Object.entries(match).map(([name, value]) => [name, decoded(String(value))]));
      const read = await template.read(uri, variables, request);
      if (read !== undefined) return contentsOf(read, uri, template.mimeType);
    }
    return undefined;
  }

  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    // Watched addresses of one client; whoever names more is told to stop.
    if (watched.size >= MAX_WATCHED) throw serving.invalid(`A client may watch ${MAX_WATCHED} resources. Stop watching others first.`);
    watched.add(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    watched.delete(uri);
    return {};
  });
}

const MAX_WATCHED = 1_000;

function contentsOf(
  read: string | ServedResourceContent | readonly ServedResourceContent[],
  address: string,
  ofResource: string | undefined,
): readonly object[] {
  const parts =
    typeof read === "string"
      ? [{ text: read }]
      : Array.isArray(read)
        ? (read as readonly ServedResourceContent[])
        : [read as ServedResourceContent];
  return parts.map((part) => {
    const mimeType = part.mimeType ?? ofResource;
    const fields = { uri: part.uri ?? address, ...(mimeType !== undefined && { mimeType }) };
    return "text" in part ? { ...fields, text: part.text } : { ...fields, blob: Buffer.from(part.bytes).toString("base64") };
  });
}

function resourceFields({ uri, name, title, description, mimeType, size }: Omit<ServedResource, "read">): ListedResource {
  return { uri, name, ...defined({ title, description, mimeType, size }) };
}

function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** What is no encoded text stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
