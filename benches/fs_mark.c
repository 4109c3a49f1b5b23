// The bare loop of fs_mark: its system calls on one thread's files, and nothing else.
//
//   bare_fs_mark DIRECTORY FILES BYTES WRITE_BYTES METHOD
//
// prints files a second, from the first file to the end of the last sync; removing the files is
// not part of it. Names are made before, and the clock is read twice. The calls are those that
// pgmeter makes in the place of fs_mark: relative to the directory, and only where a name is free.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES 41

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void sync_again(int directory, const char *name)
{
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 || fsync(file) || close(file))
        fail("sync");
}

static void create(int directory, const char *name, const char *content, long bytes, long write_bytes,
                   int is_synced)
{
    int flags = O_RDWR | O_CREAT | O_TRUNC | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    if (mkdirat(directory, ".", 0777) == 0 || errno != EEXIST)
        fail("mkdir");
    int file = openat(directory, name, flags, 0666);
    if (file < 0)
        fail("create");
    long rest = bytes;
    do {
        long length = rest < write_bytes ? rest : write_bytes;
        if (write(file, content, length) != length)
            fail("write");
        rest -= length;
    } while (rest > 0);
    if (is_synced && fsync(file))
        fail("fsync");
    if (close(file))
        fail("close");
}

int main(int count, char **words)
{
    if (count != 6) {
        fprintf(stderr, "usage: bare_fs_mark DIRECTORY FILES BYTES WRITE_BYTES METHOD\n");
        return 2;
    }
    long files = atol(words[2]), bytes = atol(words[3]), write_bytes = atol(words[4]);
    int method = atoi(words[5]);
    int directory = open(words[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        fail(words[1]);
    char(*names)[NAME_BYTES] = malloc(files * sizeof *names);
    char *content = aligned_alloc(4096, (write_bytes + 4095) / 4096 * 4096);
    if (!names || !content)
        fail("memory");
    memset(content, 0, write_bytes);
    unsigned long state = time(NULL);
    for (long file = 0; file < files; file++) {
        int length = snprintf(names[file], NAME_BYTES, "%08lx~~~~~~~~", (unsigned long)time(NULL));
        for (; length < NAME_BYTES - 1; length++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            names[file][length] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(state >> 33) % 36];
        }
        names[file][length] = 0;
    }

    double start = now();
    for (long file = 0; file < files; file++)
        create(directory, names[file], content, bytes, write_bytes, method == 1);
    if (method == 2 || method == 4 || method == 6)
        sync();
    if (method == 2)
        sync_again(directory, names[0]);
    if (method == 3 || method == 4)
        for (long file = files; file-- > 0;)
            sync_again(directory, names[file]);
    if (method == 5 || method == 6)
        for (long file = 0; file < files; file++)
            sync_again(directory, names[file]);
    double seconds = now() - start;

    for (long file = 0; file < files; file++)
        if (unlinkat(directory, names[file], 0))
            fail("remove");
    printf("%.1f\n", files / seconds);
    return 0;
}
