import { AgentError, type EventLog, type RecordedEvent, type SessionMetadata } from "@keelson/protocol";
import type { ListOptions } from "keelson/session";
import { UsageError } from "../options/usage-error.ts";
import type { CodingRunner } from "./coding-runner.ts";
import { branchOfTags, folderOfTags, isOfFolder, ownTags, sessionIds, worktreeOfTags } from "./session-folder.ts";

type Sessions = CodingRunner["sessions"];

/** A session as people know it again. */
export interface ListedSession extends SessionMetadata {
  readonly folder?: string;
  /** The name of the worktree of Keelson that its folder is in. */
  readonly worktree?: string;
  /** The git branch on which it began. */
  readonly branch?: string;
  /** How its first task begins; absent while it has none. */
  readonly firstWords?: string;
}

const MAX_WORDS = 200;

/** Newest first: those of one folder, or all, that fit. */
export async function listSessions(sessions: Sessions, folder?: string, fitting: ListOptions = {}): Promise<readonly ListedSession[]> {
  const all = await sessions.list(fitting);
  const listed: ListedSession[] = [];
  for (const metadata of all)
    if (folder === undefined || isOfFolder(metadata.tags, folder)) listed.push(await listedSession(sessions, metadata));
  return listed;
}

/** Its folder is told apart from the tags that people gave. */
export async function listedSession(sessions: Sessions, metadata: SessionMetadata): Promise<ListedSession> {
  const folder = folderOfTags(metadata.tags);
  const worktree = worktreeOfTags(metadata.tags);
  const branch = branchOfTags(metadata.tags);
  const firstWords = await readFirstWords(sessions, metadata);
  return {
    ...metadata,
    tags: ownTags(metadata.tags),
    ...(folder !== undefined && { folder }),
    ...(worktree !== undefined && { worktree }),
    ...(branch !== undefined && { branch }),
    ...(firstWords !== undefined && { firstWords }),
  };
}

/**
 * The session that an id names, or its beginning where only one begins so.
 * @throws UsageError that names those that begin so; a whole id is returned as it is, whether or not there is such a session
 */
export async function sessionNamed(log: EventLog, given: string): Promise<string> {
  const ids: string[] = [];
  for (const { id } of await sessionIds(log, given)) {
    if (id === given) return id;
    ids.push(id);
  }
  if (ids.length <= 1) return ids[0] ?? given;
  const some = ids.slice(0, 5).join(", ");
  throw new UsageError(
    `${ids.length} sessions begin with ${JSON.stringify(given)}: ${some}${ids.length > 5 ? ", …" : ""}`,
    "Give more of the id. keelson sessions list --all shows what each is about.",
  );
}

async function readFirstWords(
  sessions: Sessions,
  { id, parent, damaged }: Pick<SessionMetadata, "id" | "parent" | "damaged">,
): Promise<string | undefined> {
  try {
    for await (const event of sessions.events(id)) {
      const words = wordsOf(event);
      if (words !== undefined) return words.slice(0, MAX_WORDS);
    }
  } catch (error) {
    // Its damage is told of beside it.
    if (damaged === undefined) throw error;
  }
  // A fork begins as the session did that it was made of.
  if (parent === undefined) return undefined;
  const above = await sessions.get(parent.session).then(
    ({ metadata }) => metadata,
    (error: unknown) => {
      // Behind what the fork shares with it, it may be damaged.
      if (!AgentError.is(error)) throw error;
      return { id: parent.session, damaged: error.message };
    },
  );
  return readFirstWords(sessions, above);
}

function wordsOf(event: RecordedEvent): string | undefined {
  if (event.type !== "message") return undefined;
  const { role, content } = event.message;
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  return role === "user" && text.trim() !== "" ? text.trim().replace(/\s+/g, " ") : undefined;
}
