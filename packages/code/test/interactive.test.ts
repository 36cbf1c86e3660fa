import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, it, vi } from "vitest";
import type { OutputStream, CommandHost } from "../src/core/command-host.ts";
import { main } from "../src/main.ts";
import { openWorkspace } from "./keelson-process.ts";

// It works with a real database and a real server, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

it("converses in a terminal: works, asks, tells the cost, leaves, and is gone on with", async () => {
  await using workspace = await openWorkspace([
    { text: "I want to write.", toolCalls: [{ name: "write_file", input: { path: "a.txt", content: "first\n" } }] },
    { text: "Written." },
    { text: "Again: written." },
  ]);
  const keys = Object.assign(new PassThrough(), { isTTY: true as const });
  let written = "";
  let notice = Promise.withResolvers<void>();
  const terminal: OutputStream = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString();
        notice.resolve();
        notice = Promise.withResolvers();
        done();
      },
    }),
    { isTTY: true as const, columns: 100 },
  );
  const until = async (pattern: RegExp, from = 0): Promise<void> => {
    while (!pattern.test(stripVTControlCharacters(written.slice(from)))) await notice.promise;
  };
  const host: CommandHost = {
    environment: {
      KEELSON_SANDBOX: "0",
      KEELSON_HOME: workspace.home,
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: workspace.server.url,
      NO_COLOR: "1",
    },
    cwd: workspace.project,
    stdin: keys,
    stdout: terminal,
    stderr: terminal,
    signals: { on: () => {}, off: () => {} },
    command: "keelson",
    version: "0",
    now: Date.now,
    exit: () => {},
  };

  const code = main([], host);
  await until(/›\s+default · anthropic\/claude-sonnet-5 · \$0 · no sandbox/);
  keys.write("write a file\r");
  // Behind this sign an answer is heard.
  await until(/\? `write_file` changes `a\.txt`[\s\S]*\+ first[\s\S]*\[y\]es[^\n]*› /);
  await expect(readFile(join(workspace.project, "a.txt"))).rejects.toThrow(/ENOENT/);
  keys.write("y\r");
  await until(/write_file: ✓ allow[\s\S]*Written\.[\s\S]*✔ complete · 2 turns/);
  expect(await readFile(join(workspace.project, "a.txt"), "utf8")).toBe("first\n");
  keys.write("/cost\r");
  await until(/2 turns · [\d.k]+ in[^\n]*\$0\.\d+/);
  const before = written.length;
  keys.write("once more\r");
  await until(/Again: written\.[\s\S]*✔ complete/, before);
  keys.write("/quit\r");
  expect(await code).toBe(0);

  // One session, with both tasks in it; what was typed is remembered.
  const session = /continue with: keelson -r (\S+)/.exec(stripVTControlCharacters(written))?.[1] ?? "";
  const shown = await workspace.keelson("sessions", "show", session);
  expect(shown.stdout).toMatch(/› write a file[\s\S]*Written\.[\s\S]*› once more[\s\S]*Again: written\./);
  expect(JSON.stringify(workspace.server.requests[2]?.body)).toMatch(/write a file[\s\S]*once more/);
  expect(await readFile(join(workspace.home, "history"), "utf8")).toBe('"write a file"\n"/cost"\n"once more"\n"/quit"\n');
  // The cursor and the way of pasting are given back.
  expect(written).toContain("\u001b[?2004l");
  expect(written.lastIndexOf("\u001b[?25h")).toBeGreaterThan(written.lastIndexOf("\u001b[?25l"));
});
