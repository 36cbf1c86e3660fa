import type { SessionId } from "@keelson/protocol";
import { AGENT_NAME } from "./agent-name.ts";
import type { CodingRunner } from "./coding-runner.ts";
import { folderTag } from "./session-folder.ts";

/** A session that is found again from the folder it works in. */
export function newSession(runner: CodingRunner, folder: string): Promise<SessionId> {
  return runner.sessions.create({ tags: [folderTag(folder)], agent: AGENT_NAME });
}

/** A copy of a session to go on in: it works in `folder`, by default where the original did. */
export async function forkSession(
  { sessions }: CodingRunner,
  id: string,
  folder: string | undefined,
  options: { readonly name?: string; readonly turn?: number; readonly seq?: number } = {},
): Promise<SessionId> {
  const fork = await sessions.fork(id, options);
  const tags = folder === undefined ? (await sessions.get(id)).metadata.tags : [folderTag(folder)];
  for (const tag of tags) await sessions.tag(fork, tag);
  return fork;
}
