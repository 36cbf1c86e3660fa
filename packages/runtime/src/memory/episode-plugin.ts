import type { Scope } from "@keelson/protocol";
import { definePlugin, type MemoryEffect, type Plugin } from "../agent/definition/plugins/define-plugin.ts";
import { randomId } from "../json/random-id.ts";
import { memoryMetadata } from "../session/remembered-items.ts";
import { newItemId } from "./memory-item.ts";

export interface Episode {
  /** What the user said, all of the run. */
  readonly asked: string;
  /** What the run came to. */
  readonly answer: string;
}

export interface EpisodeTerms {
  readonly name: string;
  readonly scope: Scope;
  readonly prefix: string;
  /** In a few sentences. */
  readonly summarise: (episode: Episode) => Promise<string>;
  readonly now: () => number;
}

/** Of what is kept of one side of an episode where nobody summarises it. */
const MAX_CHARACTERS = 800;

/** Keeps of every run that came to an end what was asked and what came of it. */
export function episodePlugin({ name, scope, prefix, summarise, now }: EpisodeTerms): Plugin {
  return definePlugin({
    key: `memory.${name}`,
    initialState: { asked: "" },
    onUserMessage({ message = "" }, state) {
      const { asked } = state.value;
      state.value = { asked: cut(asked === "" ? message : `${asked}\n${message}`) };
    },
    async afterRun({ message = "", reason }, state): Promise<readonly MemoryEffect[]> {
      const { asked } = state.value;
      state.value = { asked: "" };
      if (reason !== "complete" || asked === "" || message === "") return [];
      return [
        {
          type: "write-memory",
          scope,
          key: prefix + newItemId(now(), randomId().slice(-6)),
          value: await summarise({ asked, answer: message }),
          options: { contentKind: "episodic", metadata: memoryMetadata(name) },
        },
      ];
    },
  }) as Plugin;
}

/** What was asked and what came of it, the beginning of each. */
export async function shortenEpisode({ asked, answer }: Episode): Promise<string> {
  return `Asked: ${cut(asked)} Came to: ${cut(answer)}`;
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS).toWellFormed()}…`;
}
