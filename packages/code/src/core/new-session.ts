import type { SessionId } from "@keelson/protocol";
import { AGENT_NAME } from "./agent-name.ts";
import type { CodingRunner } from "./coding-runner.ts";

/** A session that is found again from the folder it works in. @param tags as `folderTags` returns them */
export function newSession(runner: CodingRunner, tags: readonly string[]): Promise<SessionId> {
  return runner.sessions.create({ tags, agent: AGENT_NAME });
}

/** A copy of a session to go on in. @param tags of the folder in which it works. Default: those of the original */
export async function forkSession(
  { sessions }: CodingRunner,
  id: string,
  tags: readonly string[] | undefined,
  options: { readonly name?: string; readonly turn?: number; readonly seq?: number } = {},
): Promise<SessionId> {
  const fork = await sessions.fork(id, options);
  for (const tag of tags ?? (await sessions.get(id)).metadata.tags) await sessions.tag(fork, tag);
  return fork;
}
