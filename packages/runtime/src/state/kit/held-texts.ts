import type { NewRecord } from "@keelson/protocol";

/** So much is held, of so many appends. */
const MOST_APPENDS = 64;
const MOST_LENGTH = 128 * 1024;
/** What comes while so much waits for what is being added is left to whoever searches. */
const TOO_MUCH = 16;

/** What the records of one append behind `after` are found by, in their order; `id` names their log as the backend does. */
export interface HeldAppend<Id> {
  readonly id: Id;
  readonly after: number;
  readonly texts: readonly string[];
}

/** What records are found by, by their keys. */
export type TextsByKey = ReadonlyMap<string, string>;

/**
 * What came with appends and is not in the index yet: many are added in one transaction, since an index of words changes in many places, however
 * little is added. The database knows which records wait, so whoever searches reads those whose process died, or still runs.
 */
export interface HeldTexts<Id> {
  hold(added: { readonly id: Id; readonly after: number; readonly records: readonly NewRecord[] }, texts: TextsByKey): void;
  /** Adds what is held. What can't be added waits for whoever searches. */
  flush(waitMs?: number): Promise<void>;
}

/**
 * @param add without effect on what somebody else has added meanwhile, and on logs that are gone
 * @param mostLength how much text is added at once, but for a single append's. Default 128 KiB
 */
export function createHeldTexts<Id>(
  add: (held: readonly HeldAppend<Id>[], waitMs?: number) => Promise<void>,
  mostLength: number = MOST_LENGTH,
): HeldTexts<Id> {
  let held: HeldAppend<Id>[] = [];
  let length = 0;
  let adding: Promise<void> | undefined;

  const isMuch = (times = 1): boolean => held.length >= times * MOST_APPENDS || length >= times * mostLength;
  const addHeld = async (waitMs?: number): Promise<void> => {
    while (held.length > 0) {
      const taken = held;
      held = [];
      length = 0;
      await add(taken, waitMs).catch(() => undefined);
      if (!isMuch()) break;
    }
    adding = undefined;
  };
  const flush = async (waitMs?: number): Promise<void> => {
    await adding;
    if (held.length > 0) await (adding ??= addHeld(waitMs));
  };
  return {
    hold({ id, after, records }, texts) {
      if (isMuch(TOO_MUCH)) return;
      const brought = records.map(({ key }) => texts.get(key) ?? "");
      held.push({ id, after, texts: brought });
      for (const text of brought) length += text.length;
      if (isMuch()) void (adding ??= addHeld());
    },
    flush,
  };
}

/** Nothing where they don't go with the records: whoever searches finds out. */
export function textsByKey(records: readonly NewRecord[], texts: readonly string[] | undefined): TextsByKey | undefined {
  if (texts?.length !== records.length) return undefined;
  return new Map(records.map(({ key }, index) => [key, texts[index] ?? ""]));
}

/** Whether none of them is found by anything. */
export function areWordless(texts: TextsByKey | undefined): boolean {
  return texts !== undefined && [...texts.values()].every((text) => text === "");
}
