import type { Amounts } from "../kit/budget-amounts.ts";
import { REMEMBERED_SETTLEMENTS } from "../kit/budget-ledger-terms.ts";

/** What was settled last, by reservation: what is older than so many is forgotten. */
export class RecentSettlements {
  // Two generations: a map from which the oldest is taken again and again gets slow.
  #recent = new Map<string, Amounts>();
  #before: ReadonlyMap<string, Amounts> = new Map();

  get(key: string): Amounts | undefined {
    return this.#recent.get(key) ?? this.#before.get(key);
  }

  add(key: string, amounts: Amounts): void {
    if (this.#recent.size >= REMEMBERED_SETTLEMENTS) {
      this.#before = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, amounts);
  }
}
