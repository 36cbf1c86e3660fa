import { type JsonObject, type JsonValue, McpError, type McpLogLevel, type McpToolDescriptor, type OnElicitation } from "@keelson/protocol";
import type { Client, CreateMessageRequestParams, ElicitRequestParams, RequestOptions } from "@modelcontextprotocol/client";
import { jsonValue } from "../../json/index.ts";
import { createJsonSchemaValidator, formatIssue } from "../../schema/index.ts";
import { answerElicitation, answerSampling, type Answerer } from "./answer-server.ts";
import type { ClientSdk } from "./load-sdk.ts";
import type { McpCallOptions, McpToolResult } from "./mcp-transport.ts";
import type { McpRoot } from "./mcp-root.ts";
import type { RequestControl } from "./request-within.ts";

/** What a call is made with. */
export interface CallServices {
  readonly sdk: ClientSdk;
  readonly client: Client;
  /** Of the server. */
  readonly name: string;
  readonly onElicitation: OnElicitation | undefined;
  readonly roots: () => readonly McpRoot[];
  readonly logLevel: McpLogLevel | undefined;
  readonly descriptor: McpToolDescriptor | undefined;
  /** Lists the tools if that was not done on this connection. */
  readonly find: () => Promise<McpToolDescriptor | undefined>;
  readonly sending: RequestOptions;
  readonly control: RequestControl;
}

const MAX_ROUNDS = 10;
const PAUSE_MS = 250;

/**
 * Calls a tool. Where the server gives the call back to be told something first, that is asked, and the call is made again with the answers: the
 * revision without sessions is made so, and says that nothing happened.
 */
export async function callTool(services: CallServices, tool: string, input: JsonObject, options: McpCallOptions): Promise<McpToolResult> {
  const { sdk, client, descriptor, sending, control, name, logLevel } = services;
  const { onProgress } = options;
  const logs = logLevel !== undefined && client.getProtocolEra() === "modern" ? { [sdk.LOG_LEVEL_META_KEY]: logLevel } : undefined;
  const meta = options.meta || logs ? { ...options.meta, ...logs } : undefined;
  const toolDefinition = descriptor && { name: tool, inputSchema: descriptor.inputSchema as { type: "object" } };
  const send = async (more: object): Promise<JsonObject> =>
    (await client.callTool(
      { name: tool, arguments: { ...input }, ...(meta !== undefined && { _meta: meta }), ...more },
      {
        ...sending,
        allowInputRequired: true,
        ...(toolDefinition !== undefined && { toolDefinition }),
        onprogress({ progress, total, message }) {
          control.isAlive();
          const ratio = total === undefined || !(total > 0) ? undefined : Math.min(1, Math.max(0, progress / total));
          onProgress?.(message ?? (ratio === undefined ? `${progress}` : `${Math.round(ratio * 100)} %`), ratio);
        },
      },
    )) as unknown as JsonObject;

  const answerer: Answerer = { server: name, onElicitation: services.onElicitation, call: options, mayRepeat: true };
  let more = {};
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let result: JsonObject;
    try {
      result = await send(more);
    } catch (error) {
      // An older revision refuses a call until something was done on a page.
      if (!(error instanceof sdk.UrlElicitationRequiredError)) throw error;
      for (const asked of error.elicitations) {
        const { action } = await control.hold(() => answerElicitation({ ...asked, mode: "url" }, answerer));
        if (action !== "accept") throw error;
      }
      continue;
    }
    if (result["resultType"] !== "input_required") return checkResult(services, tool, result);
    const { inputRequests, requestState } = result as InputRequired;
    const inputResponses: { [key: string]: unknown } = {};
    for (const [key, asked] of Object.entries(inputRequests ?? {}))
      inputResponses[key] = await control.hold(() => answerInput(asked, answerer, services.roots));
    // A server that has too much to do asks nothing and is asked again.
    if (inputRequests === undefined) await control.pause(PAUSE_MS);
    control.signal.throwIfAborted();
    more = { ...(inputRequests !== undefined && { inputResponses }), ...(requestState !== undefined && { requestState }) };
  }
  throw new McpError({
    kind: "protocol",
    server: name,
    message: `The server "${name}" asked something again and again when "${tool}" was called: ${MAX_ROUNDS} times.`,
  });
}

/** What a server gives back in place of a result. */
interface InputRequired {
  readonly inputRequests?: { readonly [key: string]: AskedInput };
  readonly requestState?: string;
}

interface AskedInput {
  readonly method: string;
  readonly params?: unknown;
}

async function answerInput({ method, params }: AskedInput, answerer: Answerer, roots: () => readonly McpRoot[]): Promise<unknown> {
  switch (method) {
    case "elicitation/create":
      return answerElicitation(params as ElicitRequestParams, answerer);
    case "sampling/createMessage":
      return answerSampling(params as CreateMessageRequestParams, answerer);
    case "roots/list":
      return { roots: roots() };
    default:
      throw new McpError({
        kind: "protocol",
        server: answerer.server,
        message: `The server "${answerer.server}" asks for "${method}", which is not known.`,
      });
  }
}

async function checkResult({ name, descriptor, find }: CallServices, tool: string, result: JsonObject): Promise<McpToolResult> {
  const { content, structuredContent, isError } = jsonValue(result) as JsonObject;
  const checked: McpToolResult = {
    content: Array.isArray(content) ? (content as readonly JsonObject[]) : [],
    ...(structuredContent !== undefined && { structuredContent: structuredContent as JsonValue }),
    isError: isError === true,
  };
  if (checked.isError) return checked;
  // The schema of structured content stands in the listing of tools alone.
  const { outputSchema: schema } = descriptor ?? (structuredContent === undefined ? undefined : await find()) ?? {};
  if (schema === undefined) return checked;
  const issues = await createJsonSchemaValidator(schema)(structuredContent);
  if (issues.length === 0) return checked;
  throw new McpError({
    kind: "protocol",
    server: name,
    message: `The structured content that the server "${name}" gave for "${tool}" does not match the \`outputSchema\` of the tool (the call was carried out): ${issues.slice(0, 3).map(formatIssue).join("; ")}`,
  });
}
