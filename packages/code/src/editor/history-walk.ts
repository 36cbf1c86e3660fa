/** Walks through earlier messages. What was typed or edited on the way is kept until a message is sent. */
export interface HistoryWalk {
  /** Newest first. */
  readonly entries: readonly string[];
  /** @returns the next older message; `undefined` if there is none */
  older(current: string): string | undefined;
  /** @returns the next newer message or, after the newest one, what was typed */
  newer(current: string): string | undefined;
  readonly isWalking: boolean;
  /** Ends the walk where it is. */
  leave(): void;
  /** Adds a message that was sent. */
  add(text: string): void;
}

const MAX_ENTRIES = 500;

export function createHistoryWalk(earlier: readonly string[]): HistoryWalk {
  let entries = [...new Set(earlier)].slice(0, MAX_ENTRIES);
  /** 0 is what is typed; 1 the newest entry. */
  let place = 0;
  const edited = new Map<number, string>();

  function go(step: 1 | -1, current: string): string | undefined {
    const next = place + step;
    if (next < 0 || next > entries.length) return undefined;
    edited.set(place, current);
    place = next;
    return edited.get(place) ?? entries[place - 1];
  }

  function leave(): void {
    place = 0;
    edited.clear();
  }

  return {
    get entries() {
      return entries;
    },
    older: (current) => go(1, current),
    newer: (current) => go(-1, current),
    get isWalking() {
      return place > 0;
    },
    leave,
    add(text) {
      leave();
      if (text.trim() === "") return;
      entries = [text, ...entries.filter((entry) => entry !== text)].slice(0, MAX_ENTRIES);
    },
  };
}
