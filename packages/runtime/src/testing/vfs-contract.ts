import { describe, expect, it } from "vitest";
import { failureOf, type VfsContractOptions, type VfsSubject } from "./vfs-contract/create-vfs.ts";
import { describeContent } from "./vfs-contract/content.ts";
import { describeListing } from "./vfs-contract/listing.ts";
import { describePaths } from "./vfs-contract/paths.ts";
import { describeRearranging } from "./vfs-contract/rearranging.ts";
import { describeSearch } from "./vfs-contract/search.ts";
import { describeTransfers } from "./vfs-contract/transfers.ts";

/** The tests that every `Vfs` must pass, as far as its capabilities go. */
export function describeVfs(name: string, { create, capabilities, machine }: VfsContractOptions): void {
  const subject: VfsSubject = { create, can: (...operations) => operations.every((operation) => capabilities.includes(operation)) };

  describe(`${name} keeps the Vfs contract`, () => {
    it("says what it can do, and refuses the rest as unsupported [VT-01] [VT-13]", async () => {
      const files = await create({ "a.txt": "a" });
      expect([...files.capabilities].sort()).toEqual([...capabilities].sort());
      const operations = {
        ls: () => files.ls("."),
        read: () => files.read("a.txt"),
        write: () => files.write("b.txt", "b"),
        edit: () => files.edit("a.txt", "a", "b"),
        grep: () => files.grep("a"),
        glob: () => files.glob("*"),
        upload: () => files.upload("a.txt", "b.txt"),
        download: () => files.download("a.txt", "b.txt"),
        pwd: () => files.pwd(),
        cd: () => files.cd("."),
        rm: () => files.rm("a.txt"),
        cp: () => files.cp("a.txt", "b.txt"),
        mv: () => files.mv("a.txt", "b.txt"),
      };
      for (const [operation, run] of Object.entries(operations)) {
        if (files.capabilities.has(operation as keyof typeof operations)) continue;
        expect(await failureOf(run())).toMatchObject({ kind: "unsupported", operation });
      }
    });

    describePaths(subject);
    describeContent(subject);
    if (subject.can("ls")) describeListing(subject);
    if (subject.can("grep", "glob")) describeSearch(subject);
    if (subject.can("rm")) describeRearranging(subject);
    if (subject.can("upload", "download")) {
      if (machine === undefined) throw new Error(`${name} can upload and download: give describeVfs the machine's files as machine.`);
      describeTransfers(subject, machine);
    }
  });
}
