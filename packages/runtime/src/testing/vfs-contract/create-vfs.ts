import { type Vfs, type VfsCapability, VfsError, type VfsFailure } from "@keelson/protocol";

/** Files by their paths relative to the root, as in `{ "src/a.ts": "text" }`. */
export type VfsContent = { readonly [path: string]: string | Uint8Array };
/** A new file system that holds this and nothing else, and whose working directory is its root. */
export type CreateVfs = (content: VfsContent) => Vfs | Promise<Vfs>;

export interface VfsContractOptions {
  readonly create: CreateVfs;
  /** What it must be able to do, and no more. */
  readonly capabilities: readonly VfsCapability[];
  /** What `upload` reads and `download` writes. Needed by those who can. */
  readonly machine?: Vfs | undefined;
}

/** What a part of the contract is given. */
export interface VfsSubject {
  readonly create: CreateVfs;
  can(...operations: readonly VfsCapability[]): boolean;
}

export function rootOf(files: Vfs): string {
  return files.root ?? "/";
}

/** `path` as the file system tells it in results. */
export function absolute(files: Vfs, path: string): string {
  const root = rootOf(files);
  return root === "/" ? `/${path}` : `${root}/${path}`;
}

export async function textAt(files: Vfs, path: string): Promise<string> {
  return Buffer.from((await files.read(path)).content).toString("utf8");
}

export async function failureOf(work: Promise<unknown>): Promise<VfsFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!VfsError.is(error)) throw new Error(`A VfsError was expected, not ${String(error)}.`);
  return error.failure;
}

export async function kindOf(work: Promise<unknown>): Promise<VfsFailure["kind"]> {
  return (await failureOf(work)).kind;
}
