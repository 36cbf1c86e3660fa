import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { VfsError, type VfsFailure } from "@keelson/protocol";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeVfs } from "../../testing/vfs-contract.ts";
import type { VfsContent } from "../../testing/vfs-contract/create-vfs.ts";
import { createArchiveVfs } from "./archive-vfs.ts";

interface ZipEntry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** What the archive says of it instead of the truth. */
  readonly size?: number;
  readonly checksum?: number;
  readonly flags?: number;
  readonly mode?: number;
}

/** A zip as other tools make it, and as none would. */
function zipOf(entries: readonly ZipEntry[]): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content = "", flags = 0x800, mode = 0o100644, ...lies } of entries) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE((46 << 9) | (11 << 5) | 23, 8); // 2026-11-23
    common.writeUInt32LE(lies.checksum ?? crc32(bytes), 10);
    common.writeUInt32LE(packed.byteLength, 14);
    common.writeUInt32LE(lies.size ?? bytes.byteLength, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(mode * 0x10000, 6);
    tail.writeUInt32LE(at, 10);
    const header = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), common, Buffer.from(name), packed]);
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, tail, Buffer.from(name));
    local.push(header);
    at += header.byteLength;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listing.byteLength, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, listing, end]);
}

/** One header of a tar and its content, of any type and with any name. */
function tarOf(
  entries: readonly { readonly name: string; readonly content?: string; readonly type?: string; readonly link?: string }[],
): Buffer {
  const blocks = entries.flatMap(({ name, content = "", type = "0", link = "" }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${Buffer.byteLength(content).toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000001\0", 136);
    header.write("        ", 148);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write("ustar\0" + "00", 257);
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
    body.write(content);
    return [header, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function folderWith(content: VfsContent): string {
  const folder = mkdtempSync(join(tmpdir(), "keelson-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
function packed(content: VfsContent, ...options: readonly string[]): Buffer {
  return execFileSync("tar", ["-c", ...options, "-C", folderWith(content), "."], { stdio: ["ignore", "pipe", "ignore"] });
}
async function failure(work: Promise<unknown>): Promise<VfsFailure> {
  const error = await work.catch((reason: unknown) => reason);
  if (!VfsError.is(error)) throw new Error(`expected a VfsError, got ${String(error)}`);
  return error.failure;
}

const capabilities = ["ls", "read", "grep", "glob", "pwd", "cd"] as const;
describeVfs("a zip archive", {
  capabilities,
  create: (content) => createArchiveVfs(zipOf(Object.entries(content).map(([name, text]) => ({ name, content: text })))),
});
describeVfs("a tar archive", { capabilities, create: (content) => createArchiveVfs(packed(content, "--format=pax")) });
describeVfs("a tar.gz archive", { capabilities, create: (content) => createArchiveVfs(packed(content, "-z", "--format=gnu")) });

const FILES: VfsContent = {
  "a.txt": "text",
  "deep/er/b.bin": Uint8Array.of(0, 255),
  [`${"long-name".repeat(11)}/${"n".repeat(200)}.md`]: "far",
  "empty": "",
  "ünïcode": "é",
};

describe("an archive made by another program", () => {
  it.each(["--format=ustar", "--format=pax", "--format=gnu", "--format=v7"])("is read: tar %s [VT-11]", async (format) => {
    const content = /v7|ustar/.test(format) ? { "a.txt": "text", "deep/er/b.bin": Uint8Array.of(0, 255) } : FILES;
    const archive = packed(content, format);
    const files = await createArchiveVfs(archive);
    for (const [path, bytes] of Object.entries(content))
      expect(Buffer.compare((await files.read(path)).content, Buffer.from(bytes))).toBe(0);
    expect(files.info).toMatchObject({ format: "tar", compressedSize: archive.byteLength });
    expect(files.info.entries).toContainEqual({ path: "/deep/er/b.bin", isDir: false, size: 2 });
    expect(files.info.entries).toContainEqual({ path: "/deep/er", isDir: true, size: 0 });
  });

  it("is read: zip, empty folders and all", async (context) => {
    const folder = folderWith(FILES);
    mkdirSync(join(folder, "nothing"));
    try {
      execFileSync("zip", ["-qr", "all.zip", "."], { cwd: folder });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return context.skip("zip is not installed");
    }
    const files = await createArchiveVfs(readFileSync(join(folder, "all.zip")));
    for (const [path, bytes] of Object.entries(FILES)) expect(Buffer.compare((await files.read(path)).content, Buffer.from(bytes))).toBe(0);
    expect(await files.ls("nothing")).toEqual([]);
    expect(files.info.format).toBe("zip");
  });
});

describe("a hostile archive", () => {
  const names = ["../a", "a/../../b", "/etc/passwd", "..\\a", "a\\..\\..\\b", "C:\\a", "c:a", "\\\\host\\share", "a/.."];
  it.each(names)("is refused as a whole when a name in it is %j", async (name) => {
    for (const archive of [zipOf([{ name: "good" }, { name }]), tarOf([{ name: "good" }, { name }]), gzipSync(tarOf([{ name }]))])
      expect(await failure(createArchiveVfs(archive))).toMatchObject({ kind: "path-traversal", attempted: name, root: "/" });
  });

  it("never gets a link followed, and is told what was left out", async () => {
    const folder = folderWith({ "a.txt": "a" });
    symlinkSync("/etc/passwd", join(folder, "link"));
    const tar = await createArchiveVfs(execFileSync("tar", ["-c", "-C", folder, "."]));
    expect(tar.leftOut).toEqual([{ path: "/link", reason: "it is a link to /etc/passwd" }]);
    expect((await tar.ls("/")).map(({ name }) => name)).toEqual(["a.txt"]);
    // Through a link that was unpacked before: the way into a folder outside.
    const nested = tarOf([
      { name: "door", type: "2", link: "/etc" },
      { name: "door/passwd", content: "mine" },
    ]);
    expect(Buffer.from((await (await createArchiveVfs(nested)).read("door/passwd")).content).toString()).toBe("mine");
    const zip = await createArchiveVfs(
      zipOf([
        { name: "link", content: "/etc/passwd", mode: 0o120777 },
        { name: "secret", flags: 1 },
      ]),
    );
    expect(zip.leftOut.map(({ path }) => path)).toEqual(["/link", "/secret"]);
  });

  it("unpacks to no more than it may, whatever it says of itself", async () => {
    const bomb = Buffer.alloc(5_000_000);
    const limited = { maxBytes: 100_000 };
    const tooLarge = { kind: "resource-limit", limit: "maxBytes" };
    expect(await failure(createArchiveVfs(zipOf([{ name: "bomb", content: bomb }]), limited))).toMatchObject(tooLarge);
    expect(await failure(createArchiveVfs(gzipSync(bomb), limited))).toMatchObject(tooLarge);
    expect(await failure(createArchiveVfs(zipOf([{ name: "liar", content: bomb, size: 10 }]), limited))).toMatchObject({ kind: "other" });
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `${index}`, content: "x".repeat(5000) }));
    expect(await failure(createArchiveVfs(zipOf(many), limited))).toMatchObject(tooLarge);
    expect(await failure(createArchiveVfs(tarOf(many), limited))).toMatchObject(tooLarge);
    expect(await failure(createArchiveVfs(zipOf(many), { maxEntries: 29 }))).toMatchObject({ kind: "resource-limit", limit: "maxEntries" });
  });

  it("is refused when it is broken, cut off or no archive [ET-10]", async () => {
    expect(await failure(createArchiveVfs(zipOf([{ name: "a", content: "a", checksum: 1 }])))).toMatchObject({
      message: expect.stringMatching(/checksum/),
    });
    expect(await failure(createArchiveVfs(zipOf([{ name: "a" }, { name: "a/b" }])))).toMatchObject({
      message: expect.stringMatching(/a file and a folder/),
    });
    expect(await failure(createArchiveVfs(tarOf([{ name: "a/b" }, { name: "a" }])))).toMatchObject({
      message: expect.stringMatching(/a file and a folder/),
    });
    expect(await failure(createArchiveVfs(Buffer.from("hello")))).toMatchObject({ kind: "unsupported" });
  });

  it("fails as a VfsError or is read, however it is damaged", async () => {
    const whole = [
      zipOf([{ name: "a/b", content: "x".repeat(3000) }, { name: "c" }]),
      tarOf([{ name: "a/b", content: "text" }]),
      packed(FILES, "-z"),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...whole),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 }),
        fc.option(fc.nat(), { nil: undefined }),
        async (archive, changes, cut) => {
          const bytes = Buffer.from(archive);
          for (const [at, value] of changes) bytes[at % bytes.byteLength] = value;
          const damaged = cut === undefined ? bytes : bytes.subarray(0, cut % bytes.byteLength);
          const files = await createArchiveVfs(damaged, { maxBytes: 1_000_000 }).catch((error: unknown) => error);
          expect(VfsError.is(files) || files instanceof Error === false).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
