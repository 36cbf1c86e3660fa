import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { enterTerminal, type ModesProcess } from "./terminal-modes.ts";

/** A terminal that keeps the modes that it is in, and a process that does what signals do to it. */
function setting() {
  const events = new EventEmitter();
  const modes = new Set<string>();
  const kitty: string[] = [];
  const did: string[] = [];
  const output = {
    write(text: string) {
      // oxlint-disable-next-line no-control-regex -- reading escape sequences is the purpose
      for (const [sequence, name = "", final = ""] of text.matchAll(/\u001b\[([?<>]?[\d;]*)([a-z])/g)) {
        if (final === "h") modes.add(name);
        else if (final === "l") modes.delete(name);
        else if (final === "u" && name.startsWith(">")) kitty.push(name);
        else if (final === "u") kitty.pop();
        else if (name === ">4;2") modes.add("keys");
        else if (name === ">4;0") modes.delete("keys");
        else if (final !== "m") throw new Error(`unknown sequence ${JSON.stringify(sequence)}`);
      }
    },
  };
  const process: ModesProcess = {
    pid: 7,
    on: (event, listener) => events.on(event, listener),
    off: (event, listener) => events.off(event, listener),
    listenerCount: (event) => events.listenerCount(event),
    kill: (pid, signal) => void did.push(`${signal} ${pid} with ${[...modes].join(" ")}`),
  };
  return { events, modes, kitty, did, output, process };
}

describe("enterTerminal", () => {
  it("switches on pastes in brackets, reports of the focus and of all keys, and leaves them off with a cursor that is shown", () => {
    const { events, modes, kitty, output, process } = setting();
    const terminal = enterTerminal(output, { process });
    expect([...modes, ...kitty]).toEqual(["?2004", "?1004", "keys", ">1"]);
    modes.delete("?25");
    terminal.leave();
    expect([...modes].toSorted()).toEqual(["?25", "?7"]);
    expect(kitty).toEqual([]);
    expect(events.eventNames()).toEqual([]);
  });

  it("leaves once, however often it is asked to", () => {
    const { kitty, output, process } = setting();
    kitty.push("that of another program");
    const terminal = enterTerminal(output, { process });
    terminal.leave();
    terminal.leave();
    expect(kitty).toEqual(["that of another program"]);
  });

  it("leaves when the process exits", () => {
    const { events, modes, output, process } = setting();
    enterTerminal(output, { process });
    events.emit("exit");
    expect(modes.has("?2004")).toBe(false);
  });

  it("leaves before a signal ends the process, and sends the signal again without its listener", () => {
    const { events, did, output, process } = setting();
    enterTerminal(output, { process });
    events.emit("SIGHUP");
    expect(did).toEqual(["SIGHUP 7 with ?7 ?25"]);
    expect(events.listenerCount("SIGHUP")).toBe(0);
  });

  it("stays in its modes if another listener handles the signal", () => {
    const { events, modes, did, output, process } = setting();
    events.on("SIGINT", () => {});
    enterTerminal(output, { process });
    events.emit("SIGINT");
    expect([modes.has("?2004"), did]).toEqual([true, []]);
  });

  it("leaves while the process is stopped, after the screen was cleared, and enters again before it is drawn", () => {
    const { events, modes, kitty, did, output, process } = setting();
    const seen = (name: string) => () => void did.push(`${name} with ${modes.has("?2004") ? "modes" : "no modes"}`);
    enterTerminal(output, { process, onStop: seen("stop"), onContinue: seen("continue") });
    events.emit("SIGTSTP");
    events.emit("SIGCONT");
    expect(did).toEqual(["stop with modes", "SIGSTOP 7 with ?7 ?25", "continue with modes"]);
    expect(kitty).toEqual([">1"]);
  });

  it("stops all processes of its job for a key", () => {
    const { did, output, process } = setting();
    enterTerminal(output, { process }).suspend();
    expect(did).toEqual(["SIGSTOP 0 with ?7 ?25"]);
  });

  it("enters again after a stop that it could not notice", () => {
    const { events, modes, kitty, output, process } = setting();
    enterTerminal(output, { process });
    modes.clear();
    events.emit("SIGCONT");
    expect([modes.has("?2004"), modes.has("?1004"), kitty]).toEqual([true, true, [">1"]]);
  });
});
