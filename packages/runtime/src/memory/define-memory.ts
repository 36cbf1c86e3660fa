import { AgentError, type Page, type Scope, type StateStore, StateError, type Tool } from "@keelson/protocol";
import type { Plugin } from "../agent/definition/plugins/define-plugin.ts";
import type { Rule } from "../context/rule.ts";
import { checkOptionNames } from "../json/option-names.ts";
import { systemClock } from "../platform/clock.ts";
import { type Episode, episodePlugin, shortenEpisode } from "./episode-plugin.ts";
import { type MemoryItem, readItem } from "./memory-item.ts";
import { memoryTools } from "./memory-tools.ts";
import { recallRule } from "./recall-rule.ts";
import { recallRelevant, type RecallStrategy } from "./recall-strategy.ts";
import { checkMethodOptions, type MethodOptions } from "../json/check-method-options.ts";
import { BOUND_OPTION, FUNCTION_OPTION } from "../json/option-rules.ts";

const MEMORY_METHODS: MethodOptions<Memory> = { items: [0, { after: true, limit: true }] };

export interface MemoryOptions {
  /** Names its tools (`remember_fact`), its rule and its keys: lower-case letters, digits and `_`, 32 at most. */
  readonly name: string;
  /** What its items are, in the plural, as the model is told: `facts about the user`. */
  readonly about: string;
  readonly store: StateStore;
  /** Whose it is. Memories of different names may share a scope. */
  readonly scope: Scope;
  /** What is recalled. Default `recallRelevant()`. */
  readonly strategy?: RecallStrategy | undefined;
  /** Who writes: the `model`, with tools to remember, correct and forget (the default), or `runs`, of which each keeps what was asked and what came of it. */
  readonly writtenBy?: "model" | "runs" | undefined;
  /** With `writtenBy: "runs"`: what to keep of a run. It may ask a model. Default: the beginning of what was asked and of what came of it. */
  readonly summarise?: ((episode: Episode) => Promise<string>) | undefined;
  /** What recalling may put into the context at once. Default 4,000. */
  readonly maxBytes?: number | undefined;
  /** What kind the store is told that the items are. Default `semantic`; of runs always `episodic`. */
  readonly contentKind?: string | undefined;
  /** Unix ms; puts the newest first. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** What an agent is given of a memory, and what programs do with its items. */
export interface Memory {
  readonly tools: readonly Tool[];
  readonly rules: readonly Rule[];
  readonly plugins: readonly Plugin[];
  /** The newest first. In pages by `after`, the id of the last. */
  items(page?: Page): Promise<readonly MemoryItem[]>;
  /** Replaces what an item says; where it came from stays. @throws StateError `not-found`; `conflict` where somebody else wrote meanwhile */
  correct(id: string, text: string): Promise<void>;
  forget(id: string): Promise<void>;
}

/**
 * A memory of an agent: where items are kept, which of them are recalled, and who writes them.
 *
 * ```ts
 * const facts = defineMemory({ name: "fact", about: "facts about the user", store, scope: { type: "custom", namespace: "user", id: "ada" } });
 * const agent = createAgent({ name: "guide", model, tools: facts.tools, rules: facts.rules, plugins: facts.plugins });
 * ```
 * @throws AgentError of kind `invalid-option`
 */
export function defineMemory(options: MemoryOptions): Memory {
  checkOptionNames("defineMemory", options, OPTIONS);
  const { name, about, store, scope, strategy = recallRelevant(), writtenBy = "model", maxBytes = 4000, now = systemClock.now } = options;
  const { summarise = shortenEpisode, contentKind = "semantic" } = options;
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,31}$/.test(name))
    throw invalid("name", `must be a lower-case letter, then such letters, digits and "_", 32 at most, not ${JSON.stringify(name)}`);
  if (typeof about !== "string" || about === "" || /["<>\n]/.test(about))
    throw invalid("about", "must say in a few words what the items are, without quotes and brackets");
  if (typeof store?.read !== "function" || typeof store.write !== "function") throw invalid("store", "must be a StateStore");
  if (!(maxBytes > 0)) throw invalid("maxBytes", `must be a number above 0, not ${maxBytes}`);
  if (writtenBy !== "model" && writtenBy !== "runs")
    throw invalid("writtenBy", `must be "model" or "runs", not ${JSON.stringify(writtenBy)}`);
  const place = { scope, prefix: `memory/${name}/` };
  const memory: Memory = {
    rules: [recallRule({ ...place, name, about, store, strategy, maxBytes, fromThisSession: writtenBy === "model" })],
    tools: writtenBy === "model" ? memoryTools({ ...place, name, about, store, contentKind, now }) : [],
    plugins: writtenBy === "runs" ? [episodePlugin({ ...place, name, summarise, now })] : [],
    async items({ after, limit } = {}) {
      const page = { ...(after !== undefined && { after: place.prefix + after }), ...(limit !== undefined && { limit }) };
      const keys = await store.list(scope, place.prefix, page);
      const items = await Promise.all(keys.map((key) => readItem(store, place, key)));
      return items.filter((item) => item !== undefined);
    },
    async correct(id, text) {
      const key = place.prefix + id;
      const stored = await store.read(scope, key);
      if (stored === undefined)
        throw new StateError({
          kind: "not-found",
          scope: JSON.stringify(scope),
          key,
          message: `The memory "${name}" has no item "${id}": it may have been forgotten. List its items to see which there are.`,
        });
      // The new text comes from the program, and not of what was in context when the old one was written.
      const { untrusted: _, ...metadata } = { ...stored.metadata };
      await store.write(scope, key, text, { metadata, ifVersion: stored.version, contentKind: stored.contentKind ?? contentKind });
    },
    forget: (id) => store.delete(scope, place.prefix + id),
  };
  return checkMethodOptions("memory", memory, MEMORY_METHODS);
}

const OPTIONS = {
  name: true,
  about: true,
  store: true,
  scope: true,
  strategy: true,
  writtenBy: true,
  summarise: true,
  maxBytes: BOUND_OPTION,
  contentKind: true,
  now: FUNCTION_OPTION,
} as const;

function invalid(option: string, problem: string): AgentError {
  return new AgentError({ kind: "invalid-option", option, message: `${option} of a memory ${problem}.` });
}
