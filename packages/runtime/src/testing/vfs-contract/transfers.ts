import { randomUUID } from "node:crypto";
import type { Vfs } from "@keelson/protocol";
import { expect, it } from "vitest";
import { absolute, failureOf, kindOf, textAt, type VfsSubject } from "./create-vfs.ts";

/** Copies between the files and those of the machine that transfers may touch. */
export function describeTransfers({ create, can }: VfsSubject, machine: Vfs): void {
  it("uploads and downloads a file, and tells its new path and its bytes [VT-08]", async () => {
    const files = await create({ "out.txt": "12345" });
    const name = randomUUID();
    await machine.write(`${name}/in.txt`, "abc");
    expect(await files.upload(absolute(machine, `${name}/in.txt`), "new/in.txt")).toEqual({
      path: absolute(files, "new/in.txt"),
      bytesTransferred: 3,
    });
    expect(await textAt(files, "new/in.txt")).toBe("abc");
    expect(await files.download("out.txt", absolute(machine, `${name}/made/out.txt`))).toEqual({
      path: absolute(machine, `${name}/made/out.txt`),
      bytesTransferred: 5,
    });
    expect(await textAt(machine, `${name}/made/out.txt`)).toBe("12345");
    await files.download("new/in.txt", absolute(machine, `${name}/made/out.txt`));
    expect(await textAt(machine, `${name}/made/out.txt`)).toBe("abc");
  });

  it("transfers a folder with all it holds to a new place only", async () => {
    const files = await create({ "there.txt": "kept" });
    const name = randomUUID();
    await machine.write(`${name}/a/b.txt`, "b");
    await machine.write(`${name}/a/c/d.txt`, "dd");
    expect(await files.upload(absolute(machine, `${name}/a`), "a")).toEqual({ path: absolute(files, "a"), bytesTransferred: 3 });
    expect(await textAt(files, "a/c/d.txt")).toBe("dd");
    expect(await kindOf(files.upload(absolute(machine, `${name}/a`), "a"))).toBe("conflict");
    expect(await kindOf(files.upload(absolute(machine, `${name}/a/b.txt`), "a"))).toBe("is-directory");
    if (!can("ls")) return;
    await files.download("a", absolute(machine, `${name}/back`));
    expect(await textAt(machine, `${name}/back/c/d.txt`)).toBe("dd");
    expect(await kindOf(files.download("a", absolute(machine, `${name}/back`)))).toBe("conflict");
  });

  it("leaves alone what lies outside of either side, and writes nothing then [ER-16] [ET-11]", async () => {
    const files = await create({ "a.txt": "a" });
    const name = randomUUID();
    await machine.write(`${name}.txt`, "machine");
    for (const path of [`${machine.root ?? ""}/../${name}`, "../../../etc/hostname", "/etc/hostname"]) {
      expect(await kindOf(files.upload(path, "new.txt")), path).toBe("path-traversal");
      expect(await failureOf(files.download("a.txt", path)), path).toMatchObject({ kind: "path-traversal", attempted: path });
    }
    for (const path of ["../../../../../../../../../new.txt", "a\0b"]) {
      expect(await kindOf(files.upload(absolute(machine, `${name}.txt`), path)), path).not.toBe("not-found");
      expect(await kindOf(files.download(path, absolute(machine, `${name}.txt`))), path).not.toBe("not-found");
    }
    expect(await textAt(machine, `${name}.txt`)).toBe("machine");
    expect(await kindOf(files.stat("new.txt"))).toBe("not-found");
    expect(await kindOf(files.upload(absolute(machine, "missing"), "new.txt"))).toBe("not-found");
    expect(await kindOf(files.download("missing", absolute(machine, `${name}.txt`)))).toBe("not-found");
  });

  it("transfers nothing once it was told to stop", async () => {
    const files = await create({ "a.txt": "a" });
    const name = randomUUID();
    await machine.write(name, "machine");
    const stopped = { signal: AbortSignal.abort(new Error("stop")) };
    await expect(files.upload(absolute(machine, name), "b.txt", stopped)).rejects.toThrow("stop");
    await expect(files.download("a.txt", absolute(machine, name), stopped)).rejects.toThrow("stop");
    expect(await kindOf(files.stat("b.txt"))).toBe("not-found");
    expect(await textAt(machine, name)).toBe("machine");
  });
}
