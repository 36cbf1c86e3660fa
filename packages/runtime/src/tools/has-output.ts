import type { Content } from "@keelson/protocol";

/** True if an operator gave something that its caller can read: text that is not blank, an image or a file. */
export function hasOutput(message: readonly Content[]): boolean {
  return message.some((part) => (part.type === "text" ? part.text.trim() !== "" : part.type === "image" || part.type === "file"));
}

/** Says that an operator ended without an output. What it did on its way stays done. */
export function describeMissingOutput(subject: string, reason: string): string {
  return `${subject} ended without an output (${reason}). What it did on its way is done: look before you ask it again.`;
}
