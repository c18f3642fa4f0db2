/**
 * Source of an expression (flag `u`) for one emoji: joiners and variation selectors belong to it. No emoji has more than three
 * joiners; longer chains would only upset the width of a table. (`\p{RGI_Emoji}` takes 20 ms to load.)
 */
export const EMOJI = String.raw`\p{ExtPict}[\u{fe0e}\u{fe0f}\p{EMod}]?(?:\u200d\p{ExtPict}[\u{fe0f}\p{EMod}]?){0,3}|[0-9#*]\u{fe0f}\u20e3`;
