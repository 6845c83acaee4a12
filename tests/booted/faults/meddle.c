/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* usage: meddle TRACE short|signal one|half|all|SEED|CALL:N COMMAND [ARG...]: what a kernel may do at any time, and
 * seldom does.
 *
 * short: a call that reads or writes transfers less than it was asked to; only where one may: a regular file, a
 * directory, a pipe, a stream, and no more than could be cut there.
 * signal: one that nobody handles comes before a call that may wait, so that it is interrupted where it has to wait;
 * or the process is stopped and goes on.
 *
 * one, half: each call by one byte, or half of what is there. all: each signal. SEED: every other call, by chance;
 * the same number is the same chance. CALL:N: only the Nth of each process, by half, in words of eight bytes. What is
 * done is a line of TRACE. The command's process stays its caller's child: another one traces it. Where keyturn
 * executes what is not its own, that is let go. */
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
static const int argument_at[] = { 14, 13, 12, 7, 9, 8 }; /* in struct user_regs_struct */
#elif defined __aarch64__
static const int argument_at[] = { 0, 1, 2, 3, 4, 5 };
#else
# error "Which registers have the arguments of a system call?"
#endif

enum {
        PROCESSES_MAX = 512,
        TIMES_MAX = 512, /* numbers of system calls */
        ATOMIC = 16,     /* a word on a pipe comes whole */
        ENTRY_MAX = 280, /* of a directory: a name has up to 255 bytes */
        LONG = 2000,     /* from so many single bytes on it is halves, so that it ends */
};

typedef enum { LENGTH, VECTOR, MESSAGE } Kind;

typedef struct {
        long number;
        const char *name;
        Kind kind;
        int length; /* which argument; that of the vector, or of the message */
        bool reads, writes;
        int from; /* another descriptor that limits it, or -1 */
        bool waits;
} Call;

static const Call calls[] = {
        { SYS_read, "read", LENGTH, 2, .reads = true, .from = -1, .waits = true },
        { SYS_pread64, "pread64", LENGTH, 2, .reads = true, .from = -1 },
        { SYS_readv, "readv", VECTOR, 1, .reads = true, .from = -1, .waits = true },
        { SYS_recvfrom, "recvfrom", LENGTH, 2, .reads = true, .from = -1, .waits = true },
        { SYS_recvmsg, "recvmsg", MESSAGE, 1, .reads = true, .from = -1, .waits = true },
        { SYS_getdents64, "getdents64", LENGTH, 2, .reads = true, .from = -1 },
        { SYS_write, "write", LENGTH, 2, .writes = true, .from = -1, .waits = true },
        { SYS_pwrite64, "pwrite64", LENGTH, 2, .writes = true, .from = -1 },
        { SYS_writev, "writev", VECTOR, 1, .writes = true, .from = -1, .waits = true },
        { SYS_sendto, "sendto", LENGTH, 2, .writes = true, .from = -1, .waits = true },
        { SYS_sendmsg, "sendmsg", MESSAGE, 1, .writes = true, .from = -1, .waits = true },
        { SYS_sendfile, "sendfile", LENGTH, 3, .writes = true, .from = 1, .waits = true },
        { SYS_copy_file_range, "copy_file_range", LENGTH, 4, .reads = true, .from = 2 },
        { SYS_splice, "splice", LENGTH, 4, .reads = true, .from = 2, .waits = true },
#ifdef SYS_poll
        { SYS_poll, "poll", .waits = true },
        { SYS_epoll_wait, "epoll_wait", .waits = true },
        { SYS_open, "open", .waits = true },
#endif
        { SYS_ppoll, "ppoll", .waits = true },
        { SYS_epoll_pwait, "epoll_pwait", .waits = true },
        { SYS_wait4, "wait4", .waits = true },
        { SYS_waitid, "waitid", .waits = true },
        { SYS_flock, "flock", .waits = true },
        { SYS_fcntl, "fcntl", .waits = true },
        { SYS_connect, "connect", .waits = true },
        { SYS_accept, "accept", .waits = true },
        { SYS_accept4, "accept4", .waits = true },
        { SYS_nanosleep, "nanosleep", .waits = true },
        { SYS_clock_nanosleep, "clock_nanosleep", .waits = true },
        { SYS_futex, "futex", .waits = true },
        { SYS_openat, "openat", .waits = true },
        { SYS_getrandom, "getrandom", .waits = true },
        { SYS_clone, "clone", .waits = true },
        { SYS_clone3, "clone3", .waits = true },
};

typedef struct {
        pid_t pid;
        unsigned ordinal, total;
        unsigned times[TIMES_MAX];
        bool is_ours;
        uint64_t signalled_at; /* the instruction whose call was interrupted last; it is not again, at once */
        /* What is put back when the call has ended. */
        bool is_changed;
        int argument;
        uint64_t value, address;
        size_t length;
} Process;

static Process *processes[PROCESSES_MAX];
static unsigned begun;
static FILE *trace;
static bool sends;
static const char *how;

static uint64_t get_random(const Process *process) {
        uint64_t x = strtoull(how, NULL, 10) * 0x9e3779b97f4a7c15 + process->ordinal * 0xbf58476d1ce4e5b9 +
                     process->total;

        for (int i = 0; i < 3; i++) {
                x ^= x >> 30;
                x *= 0x94d049bb133111eb;
        }
        return x ^ x >> 31;
}

static bool is_wanted(const Process *process, const Call *call) {
        const char *number = strchr(how, ':');
        size_t length = number ? (size_t) (number - how) : 0;

        if (number)
                return strlen(call->name) == length && strncmp(how, call->name, length) == 0 &&
                       process->times[call->number] == strtoul(number + 1, NULL, 10);
        return how[0] < '0' || how[0] > '9' || get_random(process) % 2 == 0;
}

/* As the command sees it, and as it is found by this: a program of keyturn's by whichever of its names. */
static bool is_ours(pid_t pid) {
        static const char *const ours[] = { "/usr/lib/keyturn/", "/usr/bin/keyturnctl", "/usr/lib/keyturn-tests/" };
        char link[64], path[PATH_MAX] = "";

        snprintf(link, sizeof link, "/proc/%d/exe", (int) pid);
        if (readlink(link, path, sizeof path - 1) < 0)
                return false;
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
                if (strncmp(path, ours[i], strlen(ours[i])) == 0)
                        return true;
        return false;
}

static Process *find(pid_t pid) {
        size_t i = 0;

        while (i < PROCESSES_MAX && processes[i] && processes[i]->pid != pid)
                i++;
        if (i == PROCESSES_MAX)
                errx(1, "more than %d processes", PROCESSES_MAX);
        if (!processes[i]) {
                processes[i] = calloc(1, sizeof **processes);
                if (!processes[i])
                        err(1, "calloc");
                processes[i]->pid = pid;
                processes[i]->ordinal = begun++;
                processes[i]->is_ours = is_ours(pid);
        }
        return processes[i];
}

static void forget(pid_t pid) {
        size_t at = PROCESSES_MAX, n = 0;

        for (; n < PROCESSES_MAX && processes[n]; n++)
                if (processes[n]->pid == pid)
                        at = n;
        if (at == PROCESSES_MAX)
                return;
        free(processes[at]);
        processes[at] = processes[n - 1];
        processes[n - 1] = NULL;
}

static bool copy_memory(pid_t pid, bool to, uint64_t address, void *data, size_t size) {
        struct iovec here = { data, size }, there = { (void *) (uintptr_t) address, size };

        return (to ? process_vm_writev(pid, &here, 1, &there, 1, 0) :
                     process_vm_readv(pid, &here, 1, &there, 1, 0)) == (ssize_t) size;
}

static bool set_argument(pid_t pid, int argument, uint64_t value) {
        uint64_t registers[64];
        struct iovec all = { registers, sizeof registers };

        if (ptrace(PTRACE_GETREGSET, pid, (void *) NT_PRSTATUS, &all) < 0)
                return false;
        registers[argument_at[argument]] = value;
        return ptrace(PTRACE_SETREGSET, pid, (void *) NT_PRSTATUS, &all) == 0;
}

/* Of a socket, by its inode: a stream, whose reads and writes have no borders. */
static bool is_stream(pid_t pid, ino_t inode) {
        char path[64], line[512];
        FILE *file;
        unsigned type;
        unsigned long long found;
        bool r = false;

        snprintf(path, sizeof path, "/proc/%d/net/unix", (int) pid);
        file = fopen(path, "re");
        while (file && !r && fgets(line, sizeof line, file))
                r = sscanf(line, "%*s %*s %*s %*s %x %*s %llu", &type, &found) == 2 && found == inode &&
                    type == SOCK_STREAM;
        if (file)
                fclose(file);
        return r;
}

/* Of /proc only the lists of mounts, which the kernel gives in pieces itself. */
static bool is_of_the_kernel(const char *path, const char *target) {
        const char *name = strrchr(target, '/');
        struct statfs fs;

        if (statfs(path, &fs) < 0)
                return true;
        if (fs.f_type == PROC_SUPER_MAGIC)
                return !name || strcmp(name, "/mountinfo") != 0;
        return fs.f_type == SYSFS_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC ||
               fs.f_type == NSFS_MAGIC || fs.f_type == ANON_INODE_FS_MAGIC || fs.f_type == SECURITYFS_MAGIC;
}

/* How much can be asked for at once, of what is there; 0 where it is not to be cut. */
static uint64_t find_whole(const Process *process, const Call *call, int fd, uint64_t asked, char *target,
                           size_t size) {
        char path[64];
        struct stat st;
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int) process->pid, fd);
        n = readlink(path, target, size - 1);
        target[n > 0 ? n : 0] = '\0';
        if (n < 0 || stat(path, &st) < 0)
                return 0;
        switch (st.st_mode & S_IFMT) {
        case S_IFREG:
                /* Memory is only written in part where there is no more; the C library's linker reads once. */
                if (is_of_the_kernel(path, target) || strstr(target, ".so") ||
                    (strncmp(target, "/memfd:", 7) == 0 && call->writes && !strchr(how, ':')))
                        return 0;
                return call->reads && st.st_size > 0 && (uint64_t) st.st_size < asked ? (uint64_t) st.st_size : asked;
        case S_IFDIR:
                return asked > 2 * ENTRY_MAX ? asked : 0;
        case S_IFIFO:
                return asked > (call->writes ? PIPE_BUF : ATOMIC) ? asked : 0;
        case S_IFSOCK:
                return asked > ATOMIC && is_stream(process->pid, st.st_ino) ? asked : 0;
        default:
                return 0;
        }
}

static uint64_t choose(const Process *process, uint64_t whole, bool is_directory) {
        uint64_t half = (whole + 1) / 2, r = half;
        const uint64_t lengths[] = { 1, 7, 64, half };

        if (strcmp(how, "one") == 0 && process->total < LONG)
                r = 1;
        else if (how[0] >= '0' && how[0] <= '9' && process->total < LONG)
                r = lengths[(get_random(process) >> 8) % 4];
        else if (strchr(how, ':') && half >= 8)
                r = half - half % 8;
        return is_directory && r < ENTRY_MAX ? ENTRY_MAX : r;
}

/* Where the length is: in an argument, or in memory, as the first part of what is gathered. */
static uint64_t find_length(const Process *process, const Call *call, const struct __ptrace_syscall_info *info,
                            uint64_t *address) {
        uint64_t vector = info->entry.args[1], parts = info->entry.args[2], length = 0;
        struct msghdr message;

        *address = 0;
        if (call->kind == LENGTH)
                return info->entry.args[call->length];
        if (call->kind == MESSAGE) {
                if (!copy_memory(process->pid, false, vector, &message, sizeof message))
                        return 0;
                vector = (uintptr_t) message.msg_iov;
                parts = message.msg_iovlen;
        }
        /* Several parts: the first one alone is already less. */
        if (parts != 1)
                return 0;
        *address = vector + offsetof(struct iovec, iov_len);
        return copy_memory(process->pid, false, *address, &length, sizeof length) ? length : 0;
}

static void shorten(Process *process, const Call *call, const struct __ptrace_syscall_info *info) {
        char target[PATH_MAX] = "", other[PATH_MAX];
        uint64_t address, asked = find_length(process, call, info, &address), whole, length;

        if (!(call->reads || call->writes) || asked < 2 || !is_wanted(process, call))
                return;
        whole = find_whole(process, call, (int) info->entry.args[0], asked, target, sizeof target);
        if (whole > 0 && call->from >= 0 &&
            find_whole(process, call, (int) info->entry.args[call->from], asked, other, sizeof other) == 0)
                whole = 0;
        length = choose(process, whole, call->number == SYS_getdents64);
        if (length == 0 || length >= whole)
                return;
        if (address ? !copy_memory(process->pid, true, address, &length, sizeof length) :
                      !set_argument(process->pid, call->length, length))
                return;
        process->is_changed = true;
        process->argument = call->length;
        process->value = asked;
        process->address = address;
        fprintf(trace, "%d.%u %s:%u %llu of %llu %s\n", (int) process->pid, process->ordinal, call->name,
                process->times[call->number], (unsigned long long) length, (unsigned long long) whole, target);
}

/* The registers are as they were when the call has ended: who made it may count on that. */
static void put_back(Process *process) {
        if (process->is_changed && process->address)
                (void) copy_memory(process->pid, true, process->address, &process->value, sizeof process->value);
        else if (process->is_changed)
                (void) set_argument(process->pid, process->argument, process->value);
        process->is_changed = false;
}

static void interrupt(Process *process, const Call *call, const struct __ptrace_syscall_info *info) {
        static const int signals[] = { SIGCHLD, SIGWINCH, SIGCONT, SIGSTOP };
        int number = signals[(get_random(process) >> 8) % 4];
        bool again = process->signalled_at == info->instruction_pointer;

        process->signalled_at = 0;
        if (again || !call->waits || !is_wanted(process, call))
                return;
        if (syscall(SYS_tgkill, process->pid, process->pid, number) < 0)
                return;
        process->signalled_at = info->instruction_pointer;
        fprintf(trace, "%d.%u %s:%u signal %d\n", (int) process->pid, process->ordinal, call->name,
                process->times[call->number], number);
}

static void enter(Process *process, const struct __ptrace_syscall_info *info) {
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
                if (calls[i].number == (long) info->entry.nr) {
                        process->total++;
                        process->times[calls[i].number]++;
                        if (sends)
                                interrupt(process, &calls[i], info);
                        else
                                shorten(process, &calls[i], info);
                }
}

static void handle_call(Process *process) {
        struct __ptrace_syscall_info info;

        if (ptrace(PTRACE_GET_SYSCALL_INFO, process->pid, (void *) sizeof info, &info) < 0)
                return;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY && process->is_ours)
                enter(process, &info);
        else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
                put_back(process);
}

static void handle_stop(Process *process, int status) {
        int event = status >> 16, number = WSTOPSIG(status), deliver = 0;

        if (number == (SIGTRAP | 0x80)) {
                handle_call(process);
        } else if (event == PTRACE_EVENT_EXEC) {
                bool was_ours = process->is_ours;

                process->is_ours = is_ours(process->pid);
                process->is_changed = false;
                if (was_ours && !process->is_ours) {
                        ptrace(PTRACE_DETACH, process->pid, NULL, NULL);
                        forget(process->pid);
                        return;
                }
        } else if (event == PTRACE_EVENT_STOP && number == SIGSTOP) {
                kill(process->pid, SIGCONT);
                ptrace(PTRACE_LISTEN, process->pid, NULL, NULL);
                return;
        } else if (event == 0) {
                deliver = number;
        }
        ptrace(PTRACE_SYSCALL, process->pid, NULL, (void *) (intptr_t) deliver);
}

static void follow(void) {
        int status;
        pid_t pid;

        while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
                if (pid > 0 && WIFSTOPPED(status))
                        handle_stop(find(pid), status);
                else if (pid > 0)
                        forget(pid);
}

static void trace_caller(pid_t pid, int ready) {
        const long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                             PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

        if (ptrace(PTRACE_SEIZE, pid, NULL, (void *) options) < 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
                err(1, "Cannot trace the command");
        if (setsid() < 0 || !freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
                err(1, "Cannot go into the background");
        if (write(ready, "", 1) != 1 || close(ready) < 0)
                err(1, "Cannot tell the command");
        fclose(stderr);
        setlinebuf(trace);
        follow();
        exit(fclose(trace) == 0 ? 0 : 1);
}

int main(int argc, char **argv) {
        pid_t self = getpid(), pid;
        int ready[2];
        char byte;

        if (argc < 5 || (strcmp(argv[2], "short") != 0 && strcmp(argv[2], "signal") != 0))
                errx(2, "usage: meddle TRACE short|signal one|half|all|SEED|CALL:N COMMAND [ARG...]");
        sends = strcmp(argv[2], "signal") == 0;
        how = argv[3];
        trace = fopen(argv[1], "ae");
        if (!trace || pipe2(ready, O_CLOEXEC) < 0)
                err(1, "Cannot begin");
        (void) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* without Yama there is no such rule */
        /* A child's child, so that the command has no child that it does not know of. */
        pid = fork();
        if (pid == 0) {
                close(ready[0]);
                if (fork() == 0)
                        trace_caller(self, ready[1]);
                _exit(0);
        }
        close(ready[1]);
        if (pid < 0 || waitpid(pid, NULL, 0) < 0 || read(ready[0], &byte, 1) != 1)
                errx(1, "Nobody traces the command");
        (void) fclose(trace);
        execvp(argv[4], argv + 4);
        err(1, "%s", argv[4]);
}
