/** Bytes as base64, with padding. Written out, since no platform's function is known here. */
export const base64Of = (bytes: Uint8Array): string => {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += letter(held >> (bits - 6));
  }
  if (bits > 0) text += letter(held << (6 - bits));
  return text.padEnd(Math.ceil(bytes.length / 3) * 4, "=");
};

const letter = (bits: number): string => alphabet.charAt(bits & 63);

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
