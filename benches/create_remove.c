// The bare loop of create/remove: each file created, written and closed, then each removed.
//
//   bare_create_remove DIRECTORY FILES BYTES WRITE_BYTES
//
// prints files created and removed a second: the files in the time of both. Names are made before,
// and the clock is read twice. The calls are those that pgmeter makes: relative to the directory,
// and only where a name is free.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES 24

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

static void create(int directory, const char *name, const char *content, long bytes, long write_bytes)
{
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = openat(directory, name, flags, 0600);
    if (file < 0)
        fail("create");
    for (long at = 0; at < bytes; at += write_bytes) {
        long length = bytes - at < write_bytes ? bytes - at : write_bytes;
        if (pwrite(file, content, length, at) != length)
            fail("write");
    }
    if (close(file))
        fail("close");
}

int main(int count, char **words)
{
    if (count != 5) {
        fprintf(stderr, "usage: bare_create_remove DIRECTORY FILES BYTES WRITE_BYTES\n");
        return 2;
    }
    long files = atol(words[2]), bytes = atol(words[3]), write_bytes = atol(words[4]);
    int directory = open(words[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        fail(words[1]);
    char(*names)[NAME_BYTES] = malloc(files * sizeof *names);
    char *content = aligned_alloc(4096, (write_bytes + 4095) / 4096 * 4096);
    if (!names || !content)
        fail("memory");
    memset(content, 0, write_bytes);
    for (long file = 0; file < files; file++)
        snprintf(names[file], NAME_BYTES, "%ld", file);

    double start = now();
    for (long file = 0; file < files; file++)
        create(directory, names[file], content, bytes, write_bytes);
    for (long file = 0; file < files; file++)
        if (unlinkat(directory, names[file], 0))
            fail("remove");
    printf("%.1f\n", files / (now() - start));
    return 0;
}
