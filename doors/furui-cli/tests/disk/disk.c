/* A disk that is watched and fails: loaded into the real program by LD_PRELOAD (see mod.rs).
 *
 * Only files under $DISK_ROOT matter. What is done to them is appended to $DISK_TRACE in the order in which it happened, and
 * what is printed as well. An entry is a line "OP INODE OFFSET LENGTH PATH[<tab>PATH]" and then LENGTH bytes:
 *
 *   C a file was created   M a directory was   W bytes were written   T a file got the length OFFSET
 *   S a file was synced    D a directory was   R renamed   U removed   L linked   P bytes were printed
 *   F an operation failed on request
 *
 * $DISK_FAULT is "KIND NUMBER ERRNO TIMES": the operation of this number among those of its kind, and those after it, TIMES in
 * all, fail; of kind "short", a write takes half of what it is given, and fails only when it is tried again, unless ERRNO is 0.
 * If $DISK_SHORT is set, every write and every read takes half of what it is given, and none fails.
 * $DISK_DIE is a number of entries after which the process is killed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static const char *root;
static long entries, die_after = -1;
static char fault[16];
static long fault_number, fault_times;
static int fault_errno;
static struct { const char *kind; long count; } counts[16];
static int short_pending, short_always;
static ino_t output, known[1 << 16];
static unsigned known_count;

static int is_ours(const char *path) {
    return root && strncmp(path, root, strlen(root)) == 0;
}

__attribute__((constructor)) static void begin(void) {
    root = getenv("DISK_ROOT");
    const char *path = getenv("DISK_TRACE"), *what = getenv("DISK_FAULT"), *die = getenv("DISK_DIE");
    if (path) trace = REAL(open64)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (what) sscanf(what, "%15s %ld %d %ld", fault, &fault_number, &fault_errno, &fault_times);
    if (die) die_after = atol(die);
    short_always = getenv("DISK_SHORT") != NULL;
    struct stat data;
    if (fstat(1, &data) != 0) return;
    output = data.st_ino;
    char printed[PATH_MAX] = "";
    if (S_ISREG(data.st_mode) && readlink("/proc/self/fd/1", printed, sizeof printed - 1) > 0 && is_ours(printed))
        known[known_count++] = output;
}

static int is_known(ino_t inode) {
    for (unsigned i = 0; i < known_count; i++)
        if (known[i] == inode) return 1;
    return 0;
}

static void raw(const void *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = REAL(write)(trace, bytes, length);
        if (count <= 0) abort();
        bytes = (const char *)bytes + count;
        length -= count;
    }
}

static void entry(char op, ino_t inode, off_t offset, size_t length, const void *bytes, const char *path, const char *to) {
    if (trace >= 0) {
        char line[2 * PATH_MAX + 100];
        int count = snprintf(line, sizeof line, "%c %lu %ld %zu %s%s%s\n", op, (unsigned long)inode, (long)offset, length,
                             path ? path : "", to ? "\t" : "", to ? to : "");
        raw(line, count);
        raw(bytes, length);
    }
    if (op != 'P' && op != 'F' && ++entries == die_after) kill(getpid(), SIGKILL);
}

/* Whether this operation fails: it is counted. */
static int fails(const char *kind) {
    int i = 0;
    while (counts[i].kind && strcmp(counts[i].kind, kind)) i++;
    counts[i].kind = kind;
    long number = counts[i].count++;
    if (strcmp(kind, fault) || number < fault_number || number >= fault_number + fault_times) return 0;
    entry('F', 0, 0, 0, 0, kind, 0);
    errno = fault_errno;
    return 1;
}

static int opened(const char *name, int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    (void)name;
    if (!is_ours(path)) return real(path, flags, mode);
    pthread_mutex_lock(&mutex);
    struct stat data;
    int creates = (flags & O_CREAT) && stat(path, &data) != 0;
    int fd = creates && fails("create") ? -1 : real(path, flags, mode);
    if (fd >= 0 && fstat(fd, &data) == 0) {
        if (!is_known(data.st_ino)) known[known_count++ % (1 << 16)] = data.st_ino;
        if (creates) entry('C', data.st_ino, 0, 0, 0, path, 0);
        if (!creates && (flags & O_TRUNC)) entry('T', data.st_ino, 0, 0, 0, path, 0);
    }
    pthread_mutex_unlock(&mutex);
    return fd;
}

#define OPEN(name)                                                       \
    int name(const char *path, int flags, ...) {                         \
        va_list list;                                                    \
        va_start(list, flags);                                           \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; \
        va_end(list);                                                    \
        return opened(#name, REAL(name), path, flags, mode);             \
    }
OPEN(open)
OPEN(open64)

/* A regular file under the root, or the pipe that is standard output, of which a program has other handles. */
static int matters(int fd, struct stat *data) {
    if (fstat(fd, data) != 0) return 0;
    return S_ISREG(data->st_mode) ? is_known(data->st_ino) : S_ISFIFO(data->st_mode) && data->st_ino == output;
}

static ssize_t written(int fd, const void *bytes, size_t length, off_t offset) {
    struct stat data;
    int at = offset >= 0;
    if (fd == trace || !matters(fd, &data))
        return at ? REAL(pwrite64)(fd, bytes, length, offset) : REAL(write)(fd, bytes, length);
    pthread_mutex_lock(&mutex);
    ssize_t count = -1;
    if (S_ISFIFO(data.st_mode)) {
        count = REAL(write)(fd, bytes, length);
        if (count > 0) entry('P', 0, 0, count, bytes, 0, 0);
    } else {
        fstat(fd, &data);
        if (!at) offset = fcntl(fd, F_GETFL) & O_APPEND ? data.st_size : lseek(fd, 0, SEEK_CUR);
        if (short_pending && fault_errno) {
            errno = fault_errno;
        } else if (!fails("write")) {
            if (fails("short") && length > 1) {
                short_pending = 1;
                length /= 2;
            }
            if (short_always) length = (length + 1) / 2;
            count = at ? REAL(pwrite64)(fd, bytes, length, offset) : REAL(write)(fd, bytes, length);
        }
        if (count > 0) entry('W', data.st_ino, offset, count, bytes, 0, 0);
    }
    pthread_mutex_unlock(&mutex);
    return count;
}

static ssize_t taken(int fd, void *bytes, size_t length, off_t offset) {
    struct stat data;
    if (short_always && matters(fd, &data)) length = (length + 1) / 2;
    return offset >= 0 ? REAL(pread64)(fd, bytes, length, offset) : REAL(read)(fd, bytes, length);
}

ssize_t read(int fd, void *bytes, size_t length) { return taken(fd, bytes, length, -1); }
ssize_t pread(int fd, void *bytes, size_t length, off_t offset) { return taken(fd, bytes, length, offset); }
ssize_t pread64(int fd, void *bytes, size_t length, off64_t offset) { return taken(fd, bytes, length, offset); }

ssize_t write(int fd, const void *bytes, size_t length) { return written(fd, bytes, length, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return written(fd, bytes, length, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) { return written(fd, bytes, length, offset); }

/* One part at a time, as a system may. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
    struct stat data;
    if (!matters(fd, &data)) return REAL(writev)(fd, parts, count);
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len) return write(fd, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

/* The data goes through memory otherwise, where it is seen. */
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t length, unsigned flags) {
    (void)from, (void)at, (void)to, (void)there, (void)length, (void)flags;
    errno = EXDEV;
    return -1;
}

static int synced(int fd, int (*real)(int)) {
    struct stat data;
    char link[64], path[PATH_MAX];
    if (fstat(fd, &data) != 0) return real(fd);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    int directory = S_ISDIR(data.st_mode) && is_ours(path);
    if (!directory && !(S_ISREG(data.st_mode) && is_known(data.st_ino))) return real(fd);
    pthread_mutex_lock(&mutex);
    int outcome = fails("sync") ? -1 : real(fd);
    if (outcome == 0) entry(directory ? 'D' : 'S', data.st_ino, 0, 0, 0, path, 0);
    pthread_mutex_unlock(&mutex);
    return outcome;
}

int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

int ftruncate64(int fd, off64_t length) {
    struct stat data;
    if (!matters(fd, &data)) return REAL(ftruncate64)(fd, length);
    pthread_mutex_lock(&mutex);
    int outcome = fails("write") ? -1 : REAL(ftruncate64)(fd, length);
    if (outcome == 0) entry('T', data.st_ino, length, 0, 0, 0, 0);
    pthread_mutex_unlock(&mutex);
    return outcome;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

#define NAMES(name, kind, op, parameters, path, to, last, ...)      \
    int name parameters {                                           \
        if (!is_ours(path)) return REAL(name)(__VA_ARGS__);         \
        pthread_mutex_lock(&mutex);                                 \
        int outcome = fails(kind) ? -1 : REAL(name)(__VA_ARGS__);   \
        struct stat data = {0};                                     \
        if (outcome == 0) {                                         \
            stat(last, &data);                                      \
            entry(op, data.st_ino, 0, 0, 0, path, to);              \
        }                                                           \
        pthread_mutex_unlock(&mutex);                               \
        return outcome;                                             \
    }
#define NONE ((const char *)0)
NAMES(rename, "rename", 'R', (const char *from, const char *to), from, to, to, from, to)
NAMES(unlink, "unlink", 'U', (const char *path), path, NONE, path, path)
NAMES(mkdir, "mkdir", 'M', (const char *path, mode_t mode), path, NONE, path, path, mode)
NAMES(link, "link", 'L', (const char *from, const char *to), from, to, to, from, to)
NAMES(linkat, "link", 'L', (int a, const char *from, int b, const char *to, int flags), from, to, to, a, from, b, to, flags)
