import type { SessionId } from "@keelson/protocol";
import { AGENT_NAME } from "./agent-name.ts";
import type { CodingRunner } from "./coding-runner.ts";
import { folderTag } from "./session-folder.ts";

/** A session that is found again from the folder it works in. */
export function newSession(runner: CodingRunner, folder: string): Promise<SessionId> {
  return runner.sessions.create({ tags: [folderTag(folder)], agent: AGENT_NAME });
}
