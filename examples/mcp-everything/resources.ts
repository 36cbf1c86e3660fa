import type { ServedResource, ServedResourceTemplate } from "keelson/mcp";

/** A red pixel, as PNG. */
export const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A WAV file without a sound in it. */
export const AUDIO = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

export const resources: readonly (ServedResource | ServedResourceTemplate)[] = [
  {
    uri: "test://static-text",
    name: "static-text",
    description: "A text that stays as it is.",
    mimeType: "text/plain",
    read: () => "This is the content of the static text resource.",
  },
  {
    uri: "test://static-binary",
    name: "static-binary",
    description: "A picture that stays as it is.",
    mimeType: "image/png",
    read: () => ({ bytes: Buffer.from(IMAGE, "base64") }),
  },
  {
    uri: "test://watched-resource",
    name: "watched-resource",
    description: "A text that may change.",
    mimeType: "text/plain",
    read: () => "Watched resource content",
  },
  {
    uriTemplate: "test://template/{id}/data",
    name: "template-data",
    description: "Data for an id.",
    mimeType: "application/json",
    read: (_uri, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    complete: { id: (value) => ["1", "12", "123"].filter((id) => id.startsWith(value)) },
  },
];
