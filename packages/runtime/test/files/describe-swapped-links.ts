import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Vfs } from "@keelson/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleSize, tier } from "../../../../test/tier.ts";
import type { SwappedPlace } from "./swap-for-links.ts";

const ROUNDS = sampleSize("rounds of each call while folders are swapped for links", { test: 25, ci: 40, soak: 1500 });
const CANARY = "CANARY-9b1f";
const OUTSIDE_BYTES = 7919;
const FILES = { "file.txt": "inside", "deep/file.txt": "inside", "deep/er/file.txt": "inside", "deep/.gitignore": "nothing" };

export interface SwappedLinksOptions {
  /** A file system whose root is this folder of the disk, or has it mounted. */
  open(root: string): Vfs | Promise<Vfs>;
  /** Where the folder stands in it. Default: relative paths start there. */
  readonly at?: string;
  /** Before each call, where a call hides what stands on the disk from later ones. */
  readonly renew?: () => Promise<void>;
}

/** What holds for every file system over a folder of the disk in which others swap folders and files for links to the outside. */
export function describeSwappedLinks(name: string, { open, at = "", renew }: SwappedLinksOptions): void {
  // What is renewed takes longer.
  const rounds = renew === undefined ? ROUNDS : Math.max(25, ROUNDS / 5);
  describe(`${name}, while folders and files are swapped for links to the outside`, { timeout: tier === "soak" ? 600_000 : 60_000 }, () => {
    let base: string;
    let root: string;
    let files: Vfs;
    let swapped: Promise<unknown>;
    const control = new Int32Array(new SharedArrayBuffer(8));

    beforeAll(async () => {
      base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "keelson-swapped-")));
      root = join(base, "root");
      for (const folder of ["root", "workshop", "outside/deep/er"]) fs.mkdirSync(join(base, folder), { recursive: true });
      for (const path of [...Object.keys(FILES), "deep/only-outside.txt"]) {
        const file = join(base, "outside", path);
        fs.writeFileSync(file, `${CANARY} inside`.padEnd(OUTSIDE_BYTES, "\n"));
        fs.chmodSync(file, 0o604);
      }
      fs.writeFileSync(join(base, "outside/deep/.gitignore"), "file.txt\n".padEnd(OUTSIDE_BYTES, "\n"));
      // Before its last change, so that the first who reads it is noticed, also where times of access are kept roughly.
      for (const path of everythingBelow(join(base, "outside"))) fs.utimesSync(path, 0, fs.statSync(path).mtime);
      const place = join(root, "place");
      for (const [path, text] of Object.entries(FILES)) {
        fs.mkdirSync(join(place, path, ".."), { recursive: true });
        fs.writeFileSync(join(place, path), text);
      }
      fs.writeFileSync(join(root, "own.txt"), "inside");
      files = await open(root);
      const workerData: SwappedPlace = {
        workshop: join(base, "workshop"),
        place,
        outside: join(base, "outside"),
        files: FILES,
        swapped: ["", "deep", "deep/er", "deep/file.txt", "file.txt"],
        control,
      };
      swapped = once(new Worker(new URL("./swap-for-links.ts", import.meta.url), { workerData }), "exit");
    });
    const stopSwapping = async (): Promise<void> => {
      Atomics.store(control, 0, 1);
      await swapped;
    };
    afterAll(async () => {
      await stopSwapping();
      fs.rmSync(base, { recursive: true, force: true });
    });

    const inside = (path: string): string => (at === "" ? path : `${at}/${path}`);
    const calls: { readonly [call: string]: (round: number) => Promise<unknown> } = {
      "stat": () => files.stat(inside("place/deep/file.txt")),
      "stat of a folder": () => files.stat(inside("place/deep")),
      "ls": () => files.ls(inside("place/deep")),
      "ls of the folder above": () => files.ls(inside("place")),
      "read": () => files.read(inside("place/deep/file.txt")),
      "write": (round) => files.write(inside("place/deep/file.txt"), `inside ${round}`),
      "write of a new file": (round) => files.write(inside(`place/deep/new-${round}/file.txt`), "inside"),
      "write of a file that must not exist": (round) => files.write(inside(`place/deep/own-${round}`), "inside", { ifUnchanged: null }),
      "edit": () => files.edit(inside("place/deep/file.txt"), "inside", "inside "),
      "grep": () => files.grep("inside|CANARY|file", { path: inside(".") }),
      "grep below": () => files.grep("inside|CANARY", { path: inside("place/deep"), outputMode: "files-with-matches" }),
      "grep of one file": () => files.grep("", { path: inside("place/deep/file.txt"), multiline: true }),
      "grep of what git does not ignore": () => files.grep("inside", { path: inside("place"), gitignore: true, outputMode: "count" }),
      "glob": () => files.glob("**", { path: inside(".") }),
      "glob of what git does not ignore": () => files.glob("**/*.txt", { path: inside("place"), gitignore: true }),
      "cp from there": (round) => files.cp(inside("place"), inside(`copy-${round}`)),
      "cp of a file from there": () => files.cp(inside("place/deep/file.txt"), inside("copy.txt")),
      "cp to there": (round) => files.cp(inside("own.txt"), inside(`place/deep/copy-${round}/file.txt`)),
      "mv from there": (round) => files.mv(inside("place/deep/file.txt"), inside(`moved-${round}`)),
      "mv of a folder from there": (round) => files.mv(inside("place/deep"), inside(`moved-folder-${round}`)),
      "mv to there": async (round) => {
        await files.write(inside(`mine-${round}`), "inside");
        await files.mv(inside(`mine-${round}`), inside(`place/deep/mine-${round}`));
      },
      "rm": () => files.rm(inside("place/deep/file.txt")),
      "rm of a folder": () => files.rm(inside("place/deep"), { recursive: true }),
      "upload": () => files.upload(inside("own.txt"), inside("place/deep/file.txt")),
      "download": () => files.download(inside("place/deep/file.txt"), inside("own.txt")),
      "cd": async () => {
        await files.cd(inside("place/deep")).catch(() => {});
        const seen = await files.read("file.txt").catch(() => {});
        await files.cd(files.root ?? "/");
        return seen;
      },
    };

    it.each(Object.entries(calls))("%s neither reads nor changes anything outside", async (_, call) => {
      const outside = join(base, "outside");
      const before = observed(outside);
      const swapsBefore = Atomics.load(control, 1);
      const told: string[] = [];
      for (let round = 0; round < rounds || Atomics.load(control, 1) - swapsBefore < rounds; round++) {
        await renew?.();
        told.push(
          await call(round).then(
            (result) => textOf(result),
            () => "", // whatever stood there, the call may refuse it
          ),
        );
      }
      const leaked = new RegExp(`${CANARY}|only-outside|"(?:size|bytesTransferred)":${OUTSIDE_BYTES}[,}]|"permissions":${0o604}[,}]`);
      expect(told.filter((text) => leaked.test(text))).toEqual([]);
      expect(observed(outside)).toEqual(before);
    });

    it("holds nothing from outside afterwards", async () => {
      await stopSwapping();
      for (const path of everythingBelow(root))
        if (fs.lstatSync(path).isFile()) expect(fs.readFileSync(path, "utf8"), path).not.toContain(CANARY);
    });
  });
}

function textOf(result: unknown): string {
  return JSON.stringify(result, (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value)) ?? "";
}

/** Links are shown, not followed. */
function everythingBelow(folder: string): string[] {
  const found = [folder];
  for (let index = 0; index < found.length; index++) {
    const path = found[index] as string;
    if (fs.lstatSync(path).isDirectory()) for (const name of fs.readdirSync(path)) found.push(join(path, name));
  }
  return found;
}

/** Everything there is to see of what stands outside without reading it, and when it was last read. */
function observed(folder: string): unknown[] {
  return ["", "deep", "deep/er", "deep/.gitignore", "deep/only-outside.txt", ...Object.keys(FILES)].map((path) => {
    const { size, mode, nlink, mtimeMs, ctimeMs, atimeMs } = fs.lstatSync(join(folder, path));
    return { path, size, mode, nlink, mtimeMs, ctimeMs, atimeMs };
  });
}
