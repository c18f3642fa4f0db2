import type { Plugin } from 'esbuild';

export const withoutUnused: Plugin;
