import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

// Commits an overlay, in a process that dies at one of its acts on the disk. Arguments: base, store, id, number of that act.
const [base = "", store = "", id = "", last = ""] = process.argv.slice(2);
let acts = 0;
for (const name of ["rename", "mkdir", "rmdir", "unlink", "link", "chmod", "copyFile", "rm"] as const) {
  const original = promises[name] as (...given: readonly unknown[]) => Promise<unknown>;
  Object.assign(promises, {
    [name]: (...given: readonly unknown[]) => {
      if (++acts === Number(last)) process.kill(process.pid, "SIGKILL");
      return original(...given);
    },
  });
}
syncBuiltinESMExports();
const { createOverlay } = await import("../../src/environment/overlay/create-overlay.ts");
const overlay = await createOverlay({ base, store, id });
await overlay.commit();
await overlay.close();
