export { defineMemory, type Memory, type MemoryOptions } from "./define-memory.ts";
export { type Episode } from "./episode-plugin.ts";
export { type MemoryItem } from "./memory-item.ts";
export { pastEpisodes, type PastEpisodesOptions } from "./past-episodes.ts";
export { projectNotes, type ProjectNotesOptions } from "./project-notes.ts";
export {
  recallNewest,
  type RecallOptions,
  recallRelevant,
  type RecallRelevantOptions,
  type RecallRequest,
  type RecallStrategy,
} from "./recall-strategy.ts";
export { userFacts, type UserFactsOptions } from "./user-facts.ts";
export { forgetRemembered, type Provenance } from "../session/remembered-items.ts";
