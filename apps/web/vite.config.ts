import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env.SPARKROOM_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  plugins: [react()],
  build: { outDir: 'dist', sourcemap: false, target: 'es2023', chunkSizeWarningLimit: 700 },
  // The page's security policy allows scripts from its own origin only: no inline preload helper.
  server: {
    host: '127.0.0.1',
    proxy: { '/trpc': server, '/api/auth': server, '/files': server },
  },
});
