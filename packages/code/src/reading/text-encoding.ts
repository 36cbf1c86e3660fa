/** The encodings that are recognised by their bytes. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be" | "gb18030" | "shift_jis" | "windows-1252";

/** `certain`: a byte order mark or valid UTF-8 says so; `likely`: the bytes fit this encoding much better than the others; `guess`: they fit no other. */
export type EncodingConfidence = "certain" | "likely" | "guess";

export interface DetectedEncoding {
  readonly encoding: TextEncoding;
  readonly confidence: EncodingConfidence;
  /** The length of the byte order mark in bytes; 0 if there is none. */
  readonly markBytes: number;
}

const NAMES: { readonly [encoding: string]: string } = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16LE",
  "utf-16be": "UTF-16BE",
  "gb18030": "GB18030",
  "shift_jis": "Shift-JIS",
  "windows-1252": "Latin-1 (Windows-1252)",
};

/** Returns the name of an encoding for people and for the model. */
export function encodingName(encoding: string): string {
  return NAMES[encoding] ?? encoding;
}
