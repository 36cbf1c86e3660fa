import type { Content, SessionMetadata } from "@keelson/protocol";
import type { Sessions, SessionView } from "../../session/index.ts";
import { AgentError } from "@keelson/protocol";
import type { McpRequest } from "./mcp-request.ts";
import type { ServedResource, ServedResourceTemplate } from "./mcp-server-options.ts";
import { mayUseSession, type SessionAccess } from "./session-access.ts";

const PREFIX = "keelson://sessions/";
const LISTED = 100;

/** Sessions as things to read: each as Markdown, and under `…/json` as it is. */
export function sessionResources(sessions: Sessions, access: SessionAccess): readonly ServedResourceTemplate[] {
  async function mine(request: McpRequest): Promise<readonly SessionMetadata[]> {
    const found: SessionMetadata[] = [];
    for (const metadata of await sessions.list()) {
      if (found.length === LISTED) break;
      if (await mayUseSession(metadata.id, request, access)) found.push(metadata);
    }
    return found;
  }

  async function view(id: string, request: McpRequest): Promise<SessionView | undefined> {
    if (!(await mayUseSession(id, request, access))) return undefined;
    try {
      return await sessions.get(id);
    } catch (error) {
      if (AgentError.is(error, "session")) return undefined;
      throw error;
    }
  }

  return [
    {
      uriTemplate: `${PREFIX}{session}`,
      name: "session",
      description: "What was said and done in a session.",
      mimeType: "text/markdown",
      list: async (request) => (await mine(request)).map(listed),
      async read(_uri, { session = "" }, request) {
        const found = await view(session, request);
        return found === undefined ? undefined : sessionMarkdown(found);
      },
    },
    {
      uriTemplate: `${PREFIX}{session}/json`,
      name: "session-json",
      description: "The same with all that is known of it, as JSON.",
      mimeType: "application/json",
      async read(_uri, { session = "" }, request) {
        const found = await view(session, request);
        return found === undefined ? undefined : JSON.stringify(found);
      },
    },
  ];
}

function listed({ id, name, agentName, turnCount, updatedAt }: SessionMetadata): Omit<ServedResource, "read"> {
  return {
    uri: `${PREFIX}${encodeURIComponent(id)}`,
    name: name ?? id,
    description: `A session of ${agentName} with ${turnCount} ${turnCount === 1 ? "turn" : "turns"}, last changed ${new Date(updatedAt).toISOString()}.`,
    mimeType: "text/markdown",
  };
}

/** A conversation for people and models to read. */
export function sessionMarkdown({ metadata, messages, run }: SessionView): string {
  const lines = [`# ${metadata.name ?? metadata.id}`, "", `Agent: ${metadata.agentName}`];
  if (run !== undefined) lines.push(`Run: ${run.status}${run.reason === undefined ? "" : ` (${run.reason})`}`);
  for (const { role, content } of messages) lines.push("", `## ${role}`, "", ...content.map(partMarkdown));
  return `${lines.join("\n")}\n`;
}

function partMarkdown(part: Content): string {
  switch (part.type) {
    case "text":
    case "refusal":
    case "server-tool":
      return part.text;
    case "thinking":
      return `*${part.text}*`;
    case "tool-call":
      return `Calls \`${part.name}\` with \`${part.inputText}\`.`;
    case "tool-result":
      return fenced(typeof part.output === "string" ? part.output : JSON.stringify(part.output, undefined, 2));
    case "image":
    case "file":
      return `[${part.type}: ${part.mediaType}]`;
    case "other":
      return fenced(JSON.stringify(part.raw));
  }
}

/** A fence that no line of the text ends. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
