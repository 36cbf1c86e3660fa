import { createLiveScreen } from "../src/terminal/live-screen.ts";
import { enterTerminal } from "../src/terminal/terminal-modes.ts";
import { typedPart } from "./typed-part.ts";

/** A program with a live screen in the modes of an editor. It stops itself for Ctrl-Z, and ends for q. */
const screen = createLiveScreen(process.stdout, { environment: process.env, process });
const modes = enterTerminal(process.stdout, {
  process,
  onStop() {
    screen.suspend();
    process.stdin.setRawMode(false);
  },
  onContinue() {
    process.stdin.setRawMode(true);
    screen.resume();
  },
});
process.stdin.setRawMode(true);
process.stdin.on("data", (keys) => {
  if (keys.includes("\u001a")) modes.suspend();
  if (!keys.includes("q")) return;
  modes.leave();
  screen.close();
  process.exit(0);
});
screen.block(["a finished line"]);
screen.part("input", typedPart("draft", 5));
