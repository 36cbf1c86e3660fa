import type { StateStore } from "@keelson/protocol";
import { checkOptionNames } from "../json/option-names.ts";
import { defineMemory, type Memory } from "./define-memory.ts";
import type { RecallStrategy } from "./recall-strategy.ts";

export interface UserFactsOptions {
  readonly store: StateStore;
  /** Whose facts. Other users' are out of reach. */
  readonly user: string;
  /** Default `recallRelevant()`: what fits what was said, then the newest. */
  readonly strategy?: RecallStrategy | undefined;
}

/** Facts about a user, which the model remembers, corrects and forgets: `remember_fact`, `correct_fact`, `forget_fact`. */
export function userFacts(options: UserFactsOptions): Memory {
  checkOptionNames("userFacts", options, { store: true, user: true, strategy: true });
  const { store, user, strategy } = options;
  return defineMemory({
    name: "fact",
    about: "facts about the user",
    store,
    scope: { type: "custom", namespace: "user", id: user },
    strategy,
  });
}
