import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { programPath } from "../sandbox/find-bubblewrap.ts";
import type { LineFilter } from "./line-filter.ts";
import { createRipgrepFilter } from "./ripgrep-filter.ts";

const bubblewrap = await programPath("bwrap");
let base: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "keelson-ripgrep-")));
  onTestFinished(() => fs.rmSync(base, { recursive: true, force: true }));
});
const texts = (...all: readonly string[]): Buffer[] => all.map((text) => Buffer.from(text));
async function filterOf(program: string, writable: readonly string[] = []): Promise<LineFilter> {
  const filter = await createRipgrepFilter(program, writable);
  if (typeof filter === "string") throw new Error(filter);
  return filter;
}

describe("createRipgrepFilter", () => {
  it("says of each text whether a line of it may match, also of empty ones and of those without an end of line", async () => {
    const filter = await filterOf(rgPath);
    expect(await filter("wan.ed", texts("wanted", "", "other\n", "a\nwanted\nb", "wan\nted"))).toEqual([true, false, false, true, false]);
    expect(await filter("^$", texts("a\n", "a\n\nb", ""))).toEqual([false, true, false]);
    expect(await filter("nothing", texts("a"))).toEqual([false]);
    expect(await filter("a", [])).toEqual([]);
  });

  it("is not misled by lines that look like its own output", async () => {
    const filter = await filterOf(rgPath);
    expect(await filter("^\\d", texts("5:\n0:x\n", "x\n", `${"9".repeat(3000)}\n`))).toEqual([true, false, true]);
  });

  it("has no answer if the program fails, does nothing, or does not search everything", async () => {
    const put = (name: string, script: string): string => {
      fs.writeFileSync(join(base, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return join(base, name);
    };
    for (const program of [
      put("fails", "exit 2"),
      put("nothing", "cat >/dev/null; exit 0"),
      put("part", "head -c 1 >/dev/null; echo 0:a; exit 0"),
    ])
      expect(await (await filterOf(program))("a", texts("a\n", "b\n"))).toBeUndefined();
    expect(await createRipgrepFilter(join(base, "none"), [])).toMatch(/no program/);
  });

  it("stops with its signal", async () => {
    const filter = await filterOf(rgPath);
    await expect(filter("a", texts("a"), AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  });
});

describe("a program in a folder that commands may write to", { skip: process.platform !== "linux" }, () => {
  const place = (): string => {
    fs.copyFileSync(rgPath, join(base, "rg"));
    fs.chmodSync(join(base, "rg"), 0o755);
    return join(base, "rg");
  };

  it("runs in bubblewrap, where it sees no file but itself", { skip: bubblewrap === undefined }, async () => {
    expect(await (await filterOf(place(), [base]))("a", texts("a", "b"))).toEqual([true, false]);
    fs.writeFileSync(join(base, "rg"), `#!/bin/sh\ntouch ${base}/ran\n`, { mode: 0o755 });
    expect(await (await filterOf(join(base, "rg"), [base]))("a", texts("a"))).toBeUndefined();
    expect(fs.existsSync(join(base, "ran"))).toBe(false);
  });

  it("is not started without bubblewrap, nor with one of that folder", async () => {
    fs.writeFileSync(join(base, "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
    const path = process.env["PATH"];
    process.env["PATH"] = base;
    onTestFinished(() => {
      process.env["PATH"] = path;
    });
    expect(await createRipgrepFilter(place(), [base])).toMatch(/Install bubblewrap/);
  });
});
