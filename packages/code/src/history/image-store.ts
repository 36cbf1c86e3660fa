import { createHash, type Hash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemPath } from "./system-path.ts";

/** A content that is kept. */
export interface Image {
  readonly digest: string;
  readonly size: number;
}

/** The content of a file that was kept. `inode` is present if the file has several names. */
export interface KeptFile extends Image {
  readonly inode?: number;
}

const CHUNK_BYTES = 256 * 1024;
/** A larger file is cloned where the file system can do so, and else copied in pieces. */
const BUFFERED_BYTES = 1024 * 1024;
const HEX_DIGITS = 64;

/** Keeps contents of files by their digest, in files that their owner alone can read. */
export class ImageStore {
  readonly #folder: string;
  readonly #buckets = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps the content of a file. Throws the error of the system if it cannot be read or kept. Links are not followed. */
  keep(path: string, maxBytes: number): KeptFile {
    const file = openSync(systemPath(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, nlink, ino } = fstatSync(file);
      if (size > maxBytes) throw new RangeError(`${size} bytes are more than ${maxBytes}`);
      const image = size > BUFFERED_BYTES ? this.#copy(path) : this.put(readFileSync(file));
      return nlink > 1 ? { ...image, inode: ino } : image;
    } finally {
      closeSync(file);
    }
  }

  /** Keeps bytes. */
  put(bytes: Buffer): Image {
    const digest = createHash("sha256").update(bytes).digest("hex");
    const target = this.#pathOf(digest);
    if (!existsSync(target)) {
      const draft = this.#draft();
      writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" });
      this.#place(draft, digest);
    }
    return { digest, size: bytes.byteLength };
  }

  /** Returns the bytes of an image; `undefined` if it is missing or damaged. */
  read(digest: string): Buffer | undefined {
    try {
      const bytes = readFileSync(this.#pathOf(digest));
      return createHash("sha256").update(bytes).digest("hex") === digest ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** Makes a file with the content of an image. @returns false, and leaves no file, if the image is missing or damaged */
  copyTo(digest: string, path: string, mode: number): boolean {
    const target = systemPath(path);
    let isSound = false;
    try {
      copyFileSync(this.#pathOf(digest), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      const file = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        isSound = digestOf(file).digest === digest;
        if (isSound) fchmodSync(file, mode);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    } finally {
      if (!isSound) rmSync(target, { force: true });
    }
    return isSound;
  }

  /** Has an image written to the disk. */
  sync(digest: string): void {
    const file = openSync(this.#pathOf(digest), constants.O_RDONLY);
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  has(digest: string): boolean {
    return existsSync(this.#pathOf(digest));
  }

  /** Returns the bytes of all images. */
  bytes(): number {
    let sum = 0;
    for (const { path } of this.#all()) sum += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return sum;
  }

  /** Removes the images that are not in use. */
  sweep(isUsed: (digest: string) => boolean): void {
    for (const { path, digest } of this.#all()) if (!isUsed(digest)) rmSync(path, { force: true });
  }

  *#all(): Generator<{ readonly path: string; readonly digest: string }> {
    for (const bucket of listed(this.#folder)) {
      const folder = join(this.#folder, bucket);
      for (const name of listed(folder)) yield { path: join(folder, name), digest: name };
    }
  }

  #copy(path: string): Image {
    const draft = this.#draft();
    try {
      copyFileSync(systemPath(path), draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      const file = openSync(draft, constants.O_RDWR);
      let image: Image;
      try {
        fchmodSync(file, 0o600);
        image = digestOf(file);
      } finally {
        closeSync(file);
      }
      if (!existsSync(this.#pathOf(image.digest))) this.#place(draft, image.digest);
      return image;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #place(draft: string, digest: string): void {
    const bucket = join(this.#folder, digest.slice(0, 2));
    if (!this.#buckets.has(bucket)) {
      mkdirSync(bucket, { recursive: true, mode: 0o700 });
      this.#buckets.add(bucket);
    }
    renameSync(draft, this.#pathOf(digest));
  }

  #draft(): string {
    const folder = join(this.#folder, "drafts");
    if (!this.#buckets.has(folder)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#buckets.add(folder);
    }
    return join(folder, randomBytes(8).toString("hex"));
  }

  #pathOf(digest: string): string {
    if (digest.length !== HEX_DIGITS || !/^[\da-f]+$/.test(digest)) throw new Error(`${JSON.stringify(digest)} is no digest`);
    return join(this.#folder, digest.slice(0, 2), digest);
  }
}

/** Reads an open file from its beginning. */
export function digestOf(file: number): Image {
  const hash: Hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let size = 0;
  for (;;) {
    const read = readSync(file, buffer, 0, CHUNK_BYTES, size);
    if (read === 0) return { digest: hash.digest("hex"), size };
    hash.update(buffer.subarray(0, read));
    size += read;
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
