import type { Scope, StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";
import { defineMemory, type Memory } from "./define-memory.ts";
import type { Episode } from "./episode-plugin.ts";
import { recallRelevant, type RecallStrategy } from "./recall-strategy.ts";

export interface PastEpisodesOptions {
  readonly store: StateStore;
  /** Whose episodes: a user's, a project's. */
  readonly scope: Scope;
  /** Default: up to 4 that the store's search finds for what was said. A store without search finds none: give it `recallNewest()`. */
  readonly strategy?: RecallStrategy | undefined;
  /** What to keep of a run, in a few sentences. It may ask a model. Default: the beginning of what was asked and of what came of it. */
  readonly summarise?: ((episode: Episode) => Promise<string>) | undefined;
}

/** What was asked in past sessions and what came of it. Every run that completes adds its own; a session is not told its own again. */
export function pastEpisodes(options: PastEpisodesOptions): Memory {
  checkOptionNames("pastEpisodes", options, { store: true, scope: true, strategy: true, summarise: true });
  const { store, scope, strategy = recallRelevant({ limit: 4, orNewest: false }), summarise } = options;
  return defineMemory({ name: "episode", about: "episodes of past sessions", store, scope, strategy, writtenBy: "runs", summarise });
}
