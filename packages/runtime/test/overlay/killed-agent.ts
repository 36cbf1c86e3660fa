import { createOverlay } from "keelson/environment";
import { createSqliteEventLog } from "keelson/state";
import { overlayRunner, running, writing } from "./overlay-agent.ts";

// An agent that edits an overlay, in a process that waits to be killed. Arguments: base, store, log.
const [base = "", store = "", log = ""] = process.argv.slice(2);
const overlay = await createOverlay({ base, store, id: "killed" });
const turns = [
  writing("lines.txt", "1\n2\n3\n4\nFIVE\n"),
  running("echo killed >> made.txt; rm -r old; mkdir old; echo new > old/new.txt; mv m.txt moved.txt"),
  {
    text: "never said",
    wait: async () => {
      // A command is running as well, and the kill finds it in the middle of a file.
      void overlay.executor({}).execute({ command: "echo half > half.txt; sleep 600", onOutput: () => {} });
      while (!(await overlay.files.glob("half.txt")).length) await new Promise((resolve) => setImmediate(resolve));
      process.stdout.write("waiting");
      await new Promise(() => setInterval(() => {}, 1000));
    },
  },
];
await overlayRunner(overlay, createSqliteEventLog(log), turns).run("go", { session: "killed" }).outcome;
