import type { FileContent, PartOptions, Vfs } from "@keelson/protocol";

/** Returns a part of a file, also of a file system that reads files whole. */
export async function readPartOf(files: Vfs, path: string, options: PartOptions): Promise<FileContent> {
  if (files.readPart !== undefined) return files.readPart(path, options);
  const { start, end, signal } = options;
  const whole = await files.read(path, { signal });
  return { ...whole, content: whole.content.slice(start, Math.max(start, end)) };
}
