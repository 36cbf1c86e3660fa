import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VfsError } from "@keelson/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type AnchoredDirectory, openDirectory } from "../files/anchored-directory.ts";
import { copyFolder } from "./copy-folder.ts";

let world: string;
let base: string;
let copy: string;
beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), "keelson-copy-")));
  [base, copy] = [join(world, "base"), join(world, "copy")];
  for (const folder of [base, copy, join(world, "outside")]) mkdirSync(folder);
  writeFileSync(join(world, "outside/secret.txt"), "secret");
});
afterEach(() => rmSync(world, { recursive: true, force: true }));

const copyAll = async (change: (from: AnchoredDirectory) => AnchoredDirectory = (from) => from): Promise<void> => {
  await using from = await openDirectory(base, base);
  await using to = await openDirectory(copy, copy);
  await copyFolder(change(from), to, { root: base, leaveOut: (name) => name === "left-out" });
};

it("copies names, content, modes and times, and links as links", async () => {
  mkdirSync(join(base, "d/e"), { recursive: true });
  writeFileSync(join(base, "d/e/run.sh"), "echo", { mode: 0o750 });
  writeFileSync(Buffer.concat([Buffer.from(`${base}/`), Buffer.from([0x66, 0xff])]), "not UTF-8");
  symlinkSync("../outside", join(base, "link"));
  mkdirSync(join(base, "left-out"));
  for (const path of ["d/e/run.sh", "d"]) utimesSync(join(base, path), 1_000_000, 2_000_000);
  chmodSync(join(base, "d"), 0o700);
  await copyAll();
  expect(
    readdirSync(copy, "buffer")
      .map((name) => name.toString("hex"))
      .toSorted(),
  ).toEqual([Buffer.from("d"), Buffer.from("link"), Buffer.from([0x66, 0xff])].map((name) => name.toString("hex")).toSorted());
  expect(readFileSync(join(copy, "d/e/run.sh"), "utf8")).toBe("echo");
  expect(readlinkSync(join(copy, "link"))).toBe("../outside");
  for (const path of ["d/e/run.sh", "d"]) {
    const [was, is] = [statSync(join(base, path)), statSync(join(copy, path))];
    expect([is.mode, is.mtimeMs]).toEqual([was.mode, was.mtimeMs]);
  }
});

it.skipIf(process.platform !== "linux")(
  "reads nothing outside where a file or folder becomes a link while it is being copied",
  async () => {
    for (const [name, target] of [
      ["f.txt", "../outside/secret.txt"],
      ["f", "../outside"],
    ] as const) {
      for (const swapAt of [2, 3]) {
        rmSync(base, { recursive: true });
        rmSync(copy, { recursive: true });
        for (const folder of [base, copy]) mkdirSync(folder);
        if (name === "f") {
          mkdirSync(join(base, name));
          writeFileSync(join(base, name, "plain.txt"), "plain");
        } else writeFileSync(join(base, name), "plain");
        let looks = 0;
        const swapping = (from: AnchoredDirectory): AnchoredDirectory => ({
          ...from,
          at: ((given: string) => {
            if (++looks === swapAt) {
              rmSync(join(base, name), { recursive: true });
              symlinkSync(target, join(base, name));
            }
            return from.at(given);
          }) as AnchoredDirectory["at"],
        });
        const error = await copyAll(swapping).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (looks >= swapAt) expect(swapAt === 3 || VfsError.is(error)).toBe(true);
        for (const path of readdirSync(copy, { recursive: true })) expect(String(path)).not.toContain("secret");
        for (const entry of readdirSync(copy, { recursive: true, withFileTypes: true }))
          if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), "utf8")).toBe("plain");
      }
    }
  },
);

it("says what can't be copied", async () => {
  const { execFileSync } = await import("node:child_process");
  execFileSync("mkfifo", [join(base, "pipe")]);
  await expect(copyAll()).rejects.toThrow(/base\/pipe is neither a file, a folder nor a link/);
});
