import type { StateReader } from "@keelson/protocol";
import type { MemoryPlace } from "./memory-item.ts";

/**
 * Whether two stores show that they are not one: one of them lacks the newest item of the other. That they are different objects says nothing, since
 * one may stand around the other. One that can't be read shows nothing.
 */
export async function areApart(one: StateReader, other: StateReader, place: MemoryPlace): Promise<boolean> {
  if (one === other) return false;
  try {
    return (await lacksNewest(one, other, place)) || (await lacksNewest(other, one, place));
  } catch {
    return false;
  }
}

async function lacksNewest(store: StateReader, other: StateReader, { scope, prefix }: MemoryPlace): Promise<boolean> {
  const [newest] = await other.list(scope, prefix, { limit: 1 });
  // Asked for by its key, since it may have been written after a list of the other was made.
  return newest !== undefined && (await store.read(scope, newest)) === undefined;
}
