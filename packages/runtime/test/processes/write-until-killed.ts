import type { Scope } from "@keelson/protocol";
import { StateError } from "@keelson/protocol";
import { createFsStore, createSqliteStore } from "keelson/state";

// Writes to a state store until it is killed: its own keys, and a number that all writers count up. Says each write that was resolved.
const [kind = "", path = "", writer = "", from = "0"] = process.argv.slice(2);
const store = kind === "file" ? createFsStore(path) : createSqliteStore({ path, durability: "process" });
const scope: Scope = { type: "global" };
// Long enough for several writes to the file.
const fill = "x".repeat(20_000);

for (let round = Number(from); ; round++) {
  await store.write(scope, `${writer}/${round % 5}`, { round, fill: `${fill}${round}` });
  await say(`own ${round}`);
  for (;;) {
    const count = await store.read(scope, "count");
    try {
      await store.write(scope, "count", Number(count?.value ?? 0) + 1, { ifVersion: count?.version ?? 0 });
      await say("counted");
      break;
    } catch (error) {
      if (!StateError.is(error, "conflict")) throw error;
    }
  }
}

/** Waits until it is handed over: whoever reads slowly would else be told of none of the writes that follow, which never let the event loop go on. */
function say(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}
