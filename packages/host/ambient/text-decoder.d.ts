/** The part of `TextDecoder` that the host uses. Every platform has it; this package has no types of a platform. */
declare class TextDecoder {
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string;
}
