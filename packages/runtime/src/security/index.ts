export { type FoundSecret } from "./redaction/find-secrets.ts";
export { redactDispatches, redactExec, redactStore } from "./redaction/redact-boundaries.ts";
export { redactError } from "./redaction/redact-error.ts";
export { redactEvents } from "./redaction/redact-events.ts";
export { redactTools } from "./redaction/redact-tools.ts";
export { createRedactor, type Redactor, type RedactorOptions, type TextRedaction } from "./redaction/redactor.ts";
export { type SecretShape } from "./redaction/secret-shape.ts";
export { SECRET_SHAPES } from "./redaction/secret-shapes.ts";
